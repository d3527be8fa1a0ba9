// SPDX-License-Identifier: Apache-2.0
// The schemas of all kinds of databases have the same tables, with the same columns in the same
// order; and a program that finds those of a newer one leaves them alone.
#include "server/store/schema_data.h"
#include "server/store/store_sql.h"
#include "server/store/store_watch.h"
#include "tests/unit/store_fixture.h"

#include <pthread.h>
#include <time.h>

#define COLUMNS_OF_SQLITE                                                                      \
    "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c " \
    "WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite%' "                         \
    "AND t.name NOT LIKE 'run_text_index%' ORDER BY t.name, c.cid"
#define COLUMNS_OF_POSTGRES                                                      \
    "SELECT CAST(table_name || '.' || column_name AS TEXT) "                     \
    "FROM information_schema.columns WHERE table_schema = current_schema() "     \
    "AND table_name NOT IN ('schema_version', 'last_commit', 'run_text_index') " \
    "ORDER BY table_name COLLATE \"C\", ordinal_position"

static size_t columns_of(struct fixture *f, const char *place, const char *text, struct str **names)
{
    size_t count;
    struct db *db = db_raw_open(place);
    struct stmt stmt = sql_begin(db, text, &f->err);
    if (!sql_end_ids(&stmt, &f->arena, names, &count))
        fail_msg("%s", f->err.msg);
    db_close(db, true);
    return count;
}

static void both_have_the_same_tables_and_columns(void **state)
{
    struct fixture *f = *state;
    char place[KIND_PLACE_SIZE];
    struct str *one, *other;
    if (is_on_sqlite(f))
        skip(); // compared from the other side
    kind_place(&db_sqlite, f->folder, place);
    struct store *store = store_open(place, &f->err);
    assert_non_null(store);
    store_close(store);
    size_t count = columns_of(f, place, COLUMNS_OF_SQLITE, &one);
    size_t others = columns_of(f, f->path, COLUMNS_OF_POSTGRES, &other);
    assert_true(count > 200);
    for (size_t i = 0; i < count && i < others; i++)
        if (!str_equal(one[i], other[i]))
            fail_msg("sqlite has %s where postgres has %s", one[i].at, other[i].at);
    assert_int_equal(count, others);
}

static void a_change_has_a_file_of_the_same_number_for_each(void **state)
{
    (void)state;
    assert_int_equal(schema_postgres.version, schema_sqlite.version);
}

static void change_version(struct fixture *f, int64_t by)
{
    int64_t version;
    struct db *db = db_raw_open(f->path);
    if (!db->kind->read_version(db, &version, &f->err) ||
        !db->kind->write_version(db, version + by, &f->err))
        fail_msg("%s", f->err.msg);
    db_close(db, true);
}

static void what_a_newer_program_changed_is_read_and_not_written(void **state)
{
    struct fixture *f = *state;
    struct run run;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    assert_ok(f, store_check_schema(f->store, &f->err));
    change_version(f, 1);
    assert_false(store_check_schema(f->store, &f->err));
    assert_int_equal(f->err.code, ERR_UNSUPPORTED);
    assert_false(store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY);
    assert_non_null(strstr(f->err.msg, "newer version"));
    assert_false(store_probe(f->store, &f->err));
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &run, &f->err));
    change_version(f, -1);
    assert_ok(f, store_check_schema(f->store, &f->err));
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
}

// It is refused with the commit, even before the service has looked.
static void not_even_at_once(void **state)
{
    struct fixture *f = *state;
    struct run run;
    if (is_on_sqlite(f))
        return; // a service has its folder alone
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    change_version(f, 1);
    for (int i = 0; i < 2; i++) {
        assert_false(store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
        assert_int_equal(f->err.code, ERR_BUSY);
        assert_non_null(strstr(f->err.msg, "newer version"));
    }
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &run, &f->err));
    change_version(f, -1);
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
}

static void *open_another(void *context)
{
    struct fixture *f = context;
    struct err *err = calloc(1, sizeof *err);
    struct store *other = store_open(f->path, err);
    store_close(other);
    return err;
}

static void await_one_that_waits(struct fixture *f)
{
    enum { TRIES = 3000, WAIT_NS = 10000000 };
    for (int i = 0; i < TRIES; i++) {
        if (db_raw_number(f->path, "SELECT count(*) FROM pg_stat_activity "
                                   "WHERE wait_event_type = 'Lock'") > 0)
            return;
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
    fail_msg("nobody waits for the lock");
}

static void who_waited_while_a_newer_program_changed_them_does_not_start(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;
    struct err *err;
    int64_t version;
    if (is_on_sqlite(f))
        return;
    change_version(f, -1);
    struct db *db = db_raw_open(f->path);
    assert_ok(f, db->kind->begin(db, DB_WRITE, &f->err));
    assert_ok(f, db->kind->read_version(db, &version, &f->err));
    assert_int_equal(pthread_create(&thread, NULL, open_another, f), 0);
    await_one_that_waits(f);
    assert_ok(f, db->kind->write_version(db, version + 2, &f->err));
    assert_ok(f, db->kind->commit(db, &f->err));
    db_close(db, true);
    assert_int_equal(pthread_join(thread, (void **)&err), 0);
    assert_int_equal(err->code, ERR_UNSUPPORTED);
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_have_the_same_tables_and_columns, set_up, tear_down),
        cmocka_unit_test(a_change_has_a_file_of_the_same_number_for_each),
        cmocka_unit_test_setup_teardown(what_a_newer_program_changed_is_read_and_not_written,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_even_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            who_waited_while_a_newer_program_changed_them_does_not_start, set_up, tear_down),
    };
    return run_on_each_kind(tests);
}
