// SPDX-License-Identifier: Apache-2.0
// Copies of a database's rows, from SQLite to each kind.
#include "server/care/copy.h"
#include "server/store/store_copy.h"
#include "server/store/store_copy_table.h"
#include "tests/unit/store_fixture.h"

#include <sys/wait.h>

enum { RUNS = 1203 };

struct copied {
    struct fixture *from;
    char to[KIND_PLACE_SIZE];
    struct store_copy_watch watch;
};

static void hear(void *context, const char *table, uint64_t rows)
{
    (void)context, (void)table, (void)rows;
}

static void die_in_the_middle(void *context, const char *table, uint64_t rows)
{
    (void)context, (void)table;
    if (rows >= RUNS / 2)
        _exit(3);
}

// The source is on SQLite, the target of the test's kind.
static int set_up_copy(void **state)
{
    const struct db_kind *kind = kind_of_test(state);
    struct copied *c = calloc(1, sizeof *c);
    *state = (void *)(uintptr_t)&db_sqlite;
    set_up(state);
    c->from = *state;
    char folder[80];
    snprintf(folder, sizeof folder, "%s/to", c->from->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    kind_place(kind, folder, c->to);
    c->watch.tell = hear;
    db_raw_run(c->from->path,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1203) "
               "INSERT INTO stored_run (id, project, name, series, note, created_ns) "
               "SELECT 'r_' || i, 'p', 'a' || i, 's', CAST(x'61ff0062' AS TEXT), i FROM n;"
               "INSERT INTO figure VALUES ('r_7', 'm', -0.0, 'log'), ('r_8', 'm', 0.1, '');"
               "INSERT INTO job (id, kind, run_id, created_ns) VALUES (41, 'run', 'r_7', 1);"
               "INSERT INTO run_table_part VALUES ('r_7', 't', 1, x'00ff0a');");
    *state = c;
    return 0;
}

static int tear_down_copy(void **state)
{
    struct copied *c = *state;
    void *from = c->from;
    tear_down(&from);
    free(c);
    return 0;
}

// A server takes a moment to notice that the last one died or left.
enum { TRIES = 200, WAIT_US = 20000 };

static bool copy_when_free(const struct copy_request *request, struct err *err)
{
    for (int i = 0; i < TRIES; i++) {
        if (copy_service(request, err))
            return true;
        if (err->code != ERR_BUSY)
            return false;
        usleep(WAIT_US);
    }
    fail_msg("%s", err->msg);
    return false;
}

static struct store_copy *open_copy(struct copied *c)
{
    struct store_copy *copy = NULL;
    for (int i = 0; i < TRIES && !copy; i++) {
        copy = store_copy_open(c->from->path, c->to, &c->from->err);
        if (!copy && c->from->err.code != ERR_BUSY)
            fail_msg("%s", c->from->err.msg);
        if (!copy)
            usleep(WAIT_US);
    }
    assert_non_null(copy);
    return copy;
}

static void refuse_copy(struct copied *c, enum err_code code)
{
    assert_null(store_copy_open(c->from->path, c->to, &c->from->err));
    assert_int_equal(c->from->err.code, code);
}

static uint64_t copy_all(struct copied *c)
{
    uint64_t rows = 0;
    struct store_copy *copy = open_copy(c);
    if (!store_copy_rows(copy, &c->watch, &c->from->err) ||
        !store_copy_compare(copy, &c->watch, &rows, &c->from->err) ||
        !store_copy_end(copy, &c->from->err))
        fail_msg("%s", c->from->err.msg);
    store_copy_close(copy);
    return rows;
}

static void every_table_is_copied_or_left_behind_by_name(void **state)
{
    struct fixture *f = *state;
    size_t count;
    struct str *names;
    struct db *db = db_raw_open(f->path);
    struct stmt stmt = sql_begin(
        db,
        is_on_sqlite(f) ? "SELECT name FROM sqlite_schema WHERE type = 'table' "
                          "AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'run_text_index%'"
                        : "SELECT CAST(table_name AS TEXT) FROM information_schema.tables WHERE "
                          "table_schema = current_schema() AND table_type = 'BASE TABLE' "
                          "AND table_name <> 'schema_version'",
        &f->err);
    assert_true(sql_end_ids(&stmt, &f->arena, &names, &count));
    assert_true(count > 30);
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (const struct copied_table *table = copied_tables; table->name; table++)
            known = known || str_equal(names[i], str_of(table->name));
        for (const char *const *name = uncopied_tables; *name; name++)
            known = known || str_equal(names[i], str_of(*name));
        if (!known)
            fail_msg("a copy leaves %s behind: add it to store_copy_table.c", names[i].at);
    }
    db_close(db, true);
}

static void one_that_was_killed_goes_on(void **state)
{
    struct copied *c = *state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        c->watch.tell = die_in_the_middle;
        struct store_copy *copy = store_copy_open(c->from->path, c->to, &c->from->err);
        _exit(copy && store_copy_rows(copy, &c->watch, &c->from->err) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 3);
    int64_t there = db_raw_number(c->to, "SELECT count(*) FROM stored_run");
    assert_true(there >= RUNS / 2 && there < RUNS);
    struct store *store = store_open(c->to, &c->from->err);
    assert_non_null(store);
    assert_false(store_check_copied(store, &c->from->err));
    store_close(store);
    assert_true(copy_all(c) >= RUNS + 4);
    assert_int_equal(db_raw_number(c->to, "SELECT count(*) FROM stored_run"), RUNS);
    db_raw_run(c->to, "INSERT INTO job (kind, run_id, created_ns) VALUES ('run', 'r_8', 1)");
    assert_int_equal(db_raw_number(c->to, "SELECT max(id) FROM job"), 42);
}

static void one_that_is_complete_may_be_repeated_until_a_service_starts(void **state)
{
    struct copied *c = *state;
    copy_all(c);
    copy_all(c);
    struct store *store = store_open(c->to, &c->from->err);
    assert_non_null(store);
    assert_true(store_check_copied(store, &c->from->err));
    store_close(store);
    refuse_copy(c, ERR_CONFLICT);
}

static void what_changed_in_between_is_refused(void **state)
{
    struct copied *c = *state;
    uint64_t rows;
    copy_all(c);
    db_raw_run(c->to, "UPDATE stored_run SET note = 'x' WHERE id = 'r_9'");
    struct store_copy *copy = open_copy(c);
    assert_false(store_copy_compare(copy, &c->watch, &rows, &c->from->err));
    assert_non_null(strstr(c->from->err.msg, "stored_run"));
    assert_false(store_copy_rows(copy, &c->watch, &c->from->err));
    assert_int_equal(c->from->err.code, ERR_CONFLICT);
    store_copy_close(copy);
}

static void a_database_that_a_service_uses_is_left_alone(void **state)
{
    struct copied *c = *state;
    store_copy_close(open_copy(c));
    const char *live = "INSERT INTO leader VALUES ('care', 'n_1', 9000000000000000000)";
    db_raw_run(c->from->path, live);
    refuse_copy(c, ERR_BUSY);
    db_raw_run(c->from->path, "UPDATE leader SET until_ns = 1 WHERE role = 'care'");
    store_copy_close(open_copy(c));
    db_raw_run(c->to, live);
    refuse_copy(c, ERR_BUSY);
    db_raw_run(c->to, "DELETE FROM leader WHERE role = 'care'");
    db_raw_run(c->to, "UPDATE leader SET owner = 'n_2' WHERE role = 'copy'");
    refuse_copy(c, ERR_CONFLICT);
}

static void put_mark(const char *folder, const char *mark)
{
    char path[120];
    snprintf(path, sizeof path, "%s/place", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(mark, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// Two databases that share a place would remove each other's files.
static void files_of_another_database_are_refused_each_time(void **state)
{
    struct copied *c = *state;
    char files[80];
    snprintf(files, sizeof files, "%s/files", c->from->folder);
    assert_int_equal(mkdir(files, 0700), 0);
    struct copy_side to = {.folder = NULL, .store = c->to, .blobs = files};
    struct copy_request request = {
        .from = {.store = c->from->path, .blobs = c->from->folder}, .to = to, .out = tmpfile()};
    assert_non_null(request.out);
    put_mark(files, "n_of_another");
    for (int i = 0; i < 3; i++) {
        assert_false(copy_when_free(&request, &c->from->err));
        assert_non_null(strstr(c->from->err.msg, "belongs to another database"));
    }
    put_mark(files, "");
    assert_true(copy_when_free(&request, &c->from->err));
    assert_int_equal(db_raw_number(c->to, "SELECT count(*) FROM leader WHERE role = 'place'"), 1);
    put_mark(files, "n_of_another");
    assert_false(copy_when_free(&request, &c->from->err));
    assert_non_null(strstr(c->from->err.msg, "not the one that the copy started with"));
    fclose(request.out);
}

#define copy_test(name) cmocka_unit_test_setup_teardown(name, set_up_copy, tear_down_copy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_table_is_copied_or_left_behind_by_name, set_up,
                                        tear_down),
        copy_test(one_that_was_killed_goes_on),
        copy_test(one_that_is_complete_may_be_repeated_until_a_service_starts),
        copy_test(what_changed_in_between_is_refused),
        copy_test(a_database_that_a_service_uses_is_left_alone),
        copy_test(files_of_another_database_are_refused_each_time),
    };
    return run_on_each_kind(tests);
}
