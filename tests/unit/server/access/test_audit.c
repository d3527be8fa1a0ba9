// SPDX-License-Identifier: Apache-2.0
// The audit log under a flood: refused requests are counted and take no room, and its file is
// rotated at its size limit.
#include "server/access/audit.h"
#include "server/access/refusals.h"
#include "server/store/store_access.h"
#include "tests/unit/store_fixture.h"

#include <sys/stat.h>

static struct audit *open_audit(struct fixture *f)
{
    struct audit *audit = audit_open(f->store, f->folder, &f->err);
    assert_ok(f, audit != NULL);
    return audit;
}

static void send(struct audit *audit, const char *who, const char *peer, int status)
{
    struct audit_entry entry = {.who = str_of(who),
                                .peer = str_of(peer),
                                .action = STR("DELETE /api/v1/runs/{run}"),
                                .object = STR("/api/v1/runs/kept"),
                                .request_id = STR("q"),
                                .status = status};
    audit_write(audit, &entry);
}

static struct table list(struct fixture *f)
{
    struct audit_query all = {.before = INT64_MAX, .limit = 100000};
    struct table table;
    assert_ok(f, store_list_audit(f->store, &all, &f->arena, &table, &f->err));
    return table;
}

static const struct cell *cell_of(const struct table *table, size_t row, const char *name)
{
    for (uint32_t i = 0; i < table->desc->column_count; i++)
        if (strcmp(table->desc->columns[i].name, name) == 0)
            return &table->cells[row * table->desc->column_count + i];
    fail_msg("no column %s", name);
    return NULL;
}

// Requests that the rows represent; the hour may change in between.
static int64_t counted(const struct table *table)
{
    int64_t sum = 0;
    for (size_t i = 0; i < table->row_count; i++)
        sum += cell_of(table, i, "count")->i;
    return sum;
}

static void a_flood_of_refused_requests_is_a_number(void **state)
{
    enum { REQUESTS = 20000, HOURS = 2 };
    struct fixture *f = *state;
    struct audit *audit = open_audit(f);
    for (int i = 0; i < REQUESTS; i++)
        send(audit, "token k_1 (reader)", "10.0.0.1", 403);
    audit_settle(audit);
    struct table table = list(f);
    assert_in_range(table.row_count, 1, HOURS);
    assert_int_equal(counted(&table), REQUESTS);
    assert_true(audit_file_bytes(audit) < 4096);
    send(audit, "token k_1 (reader)", "10.0.0.1", 403);
    audit_close(audit); // counts what came since
    table = list(f);
    assert_int_equal(counted(&table), REQUESTS + 1);
    assert_true(cell_of(&table, 0, "last_at")->s.len > 0);
}

// Whether the database accepts entries.
static void set_full(struct fixture *f, bool full)
{
    if (is_on_sqlite(f))
        db_raw_run(f->path, full ? "CREATE TRIGGER no_room BEFORE INSERT ON audit BEGIN "
                                   "SELECT RAISE(ABORT, 'no room'); END"
                                 : "DROP TRIGGER no_room");
    else
        db_raw_run(f->path, full
                                ? "ALTER TABLE audit ADD CONSTRAINT no_room CHECK (FALSE) NOT VALID"
                                : "ALTER TABLE audit DROP CONSTRAINT no_room");
}

static void refusals_that_could_not_be_written_come_later(void **state)
{
    struct fixture *f = *state;
    struct audit *audit = open_audit(f);
    set_full(f, true);
    send(audit, "token k_1 (reader)", "10.0.0.1", 403);
    send(audit, "token k_2 (other)", "10.0.0.1", 403);
    send(audit, "token k_2 (other)", "10.0.0.1", 403);
    audit_settle(audit);
    assert_int_equal(list(f).row_count, 0);
    set_full(f, false);
    audit_settle(audit);
    struct table table = list(f);
    assert_int_equal(counted(&table), 3);
    audit_close(audit);
}

static void others_have_entries_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct audit *audit = open_audit(f);
    send(audit, "token k_1 (reader)", "10.0.0.1", 403);
    send(audit, "token k_1 (reader)", "10.0.0.1", 404);
    send(audit, "token k_1 (reader)", "10.0.0.2", 403);
    send(audit, "token k_2 (other)", "10.0.0.1", 403);
    send(audit, "token k_2 (other)", "10.0.0.1", 204);
    send(audit, "token k_2 (other)", "10.0.0.1", 204);
    audit_settle(audit);
    struct table table = list(f);
    assert_int_equal(table.row_count, 6);
    assert_int_equal(counted(&table), 6);
    audit_close(audit);
}

static void addresses_without_number_are_counted_together(void **state)
{
    enum { ADDRESSES = 5000, HOURS = 2 };
    struct fixture *f = *state;
    struct audit *audit = open_audit(f);
    for (int i = 0; i < ADDRESSES; i++) {
        char peer[32];
        snprintf(peer, sizeof peer, "2001:db8::%x", (unsigned)i);
        send(audit, "unknown", peer, 401);
    }
    audit_settle(audit);
    struct table table = list(f);
    assert_true(table.row_count <= HOURS * (REFUSALS_KINDS + 1));
    assert_int_equal(counted(&table), ADDRESSES);
    audit_close(audit);
}

static int64_t bytes_of(const struct fixture *f, const char *name)
{
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

static void the_file_is_put_aside_at_its_size(void **state)
{
    enum { SIZE = 2000, FILES = 3 };
    struct fixture *f = *state;
    struct audit *audit = open_audit(f);
    audit_rotate(audit, SIZE, FILES);
    for (int i = 0; i < 200; i++)
        send(audit, "token k_1 (writer)", "10.0.0.1", 204);
    assert_in_range(bytes_of(f, "audit.log"), 1, SIZE);
    assert_in_range(bytes_of(f, "audit.log.1"), 1, SIZE);
    assert_in_range(bytes_of(f, "audit.log.3"), 1, SIZE);
    assert_int_equal(bytes_of(f, "audit.log.4"), -1);
    assert_true(audit_file_bytes(audit) <= (FILES + 1) * SIZE);
    assert_true(audit_file_bytes(audit) > SIZE);
    audit_rotate(audit, SIZE, 1);
    for (int i = 0; i < 100; i++)
        send(audit, "token k_1 (writer)", "10.0.0.1", 204);
    assert_in_range(bytes_of(f, "audit.log.1"), 1, SIZE);
    assert_int_equal(bytes_of(f, "audit.log.2"), -1); // fewer are to be kept now
    assert_int_equal(bytes_of(f, "audit.log.3"), -1);
    struct table table = list(f);
    assert_int_equal(table.row_count, 300); // the database has them all
    audit_close(audit);
}

static void no_file_is_put_aside_where_none_shall_be(void **state)
{
    struct fixture *f = *state;
    struct audit *audit = open_audit(f);
    audit_rotate(audit, 0, 3);
    for (int i = 0; i < 100; i++)
        send(audit, "token k_1 (writer)", "10.0.0.1", 204);
    assert_true(bytes_of(f, "audit.log") > 100 * 100);
    assert_int_equal(bytes_of(f, "audit.log.1"), -1);
    audit_close(audit);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_flood_of_refused_requests_is_a_number),
        TEST(refusals_that_could_not_be_written_come_later),
        TEST(others_have_entries_of_their_own),
        TEST(addresses_without_number_are_counted_together),
        TEST(the_file_is_put_aside_at_its_size),
        TEST(no_file_is_put_aside_where_none_shall_be),
    };
    return run_on_each_kind(tests);
}
