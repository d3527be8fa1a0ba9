// SPDX-License-Identifier: Apache-2.0
// Statements that a connection keeps for their next use.
#include "server/db/db_sqlite_kept.h"

#include "server/db/db.h"
#include "tests/unit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct hand {
    sqlite3 *db;
    struct db_sqlite_kept kept;
};

static int set_up(void **state)
{
    struct hand *hand = calloc(1, sizeof *hand);
    assert_int_equal(sqlite3_open(":memory:", &hand->db), SQLITE_OK);
    *state = hand;
    return 0;
}

static int tear_down(void **state)
{
    struct hand *hand = *state;
    db_sqlite_kept_free(&hand->kept);
    assert_int_equal(sqlite3_close(hand->db), SQLITE_OK); // fails while there is a statement
    free(hand);
    return 0;
}

static sqlite3_stmt *made(struct hand *hand, const char *text)
{
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(hand->db, text, -1, &stmt, NULL), SQLITE_OK);
    return stmt;
}

static void the_same_text_gets_the_same_statement_without_values(void **state)
{
    struct hand *hand = *state;
    sqlite3_stmt *stmt = made(hand, "SELECT ?");
    sqlite3_bind_int(stmt, 1, 42);
    assert_true(db_sqlite_kept_put(&hand->kept, stmt));
    assert_null(db_sqlite_kept_take(&hand->kept, "SELECT ? "));
    assert_ptr_equal(db_sqlite_kept_take(&hand->kept, "SELECT ?"), stmt);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_type(stmt, 0), SQLITE_NULL);
    assert_null(db_sqlite_kept_take(&hand->kept, "SELECT ?")); // it is in use
    sqlite3_finalize(stmt);
}

static void what_takes_effect_when_it_is_compiled_is_not_kept(void **state)
{
    struct hand *hand = *state;
    sqlite3_stmt *stmt = made(hand, "PRAGMA foreign_keys = ON");
    assert_false(db_sqlite_kept_put(&hand->kept, stmt));
    sqlite3_finalize(stmt);
}

static void the_one_not_used_for_longest_makes_room(void **state)
{
    struct hand *hand = *state;
    char text[24];
    for (int i = 0; i < DB_SQLITE_KEPT; i++) {
        snprintf(text, sizeof text, "SELECT %d", i);
        assert_true(db_sqlite_kept_put(&hand->kept, made(hand, text)));
    }
    assert_true(db_sqlite_kept_put(&hand->kept, db_sqlite_kept_take(&hand->kept, "SELECT 0")));
    assert_true(db_sqlite_kept_put(&hand->kept, made(hand, "SELECT -1")));
    assert_null(db_sqlite_kept_take(&hand->kept, "SELECT 1"));
    sqlite3_stmt *first = db_sqlite_kept_take(&hand->kept, "SELECT 0");
    assert_non_null(first);
    sqlite3_finalize(first);
}

static int64_t number_of(struct db *db, int64_t id)
{
    struct err err = {0};
    struct stmt stmt = sql_begin(db, "SELECT number FROM t WHERE id = ?", &err);
    sql_bind_i64(&stmt, id);
    int64_t number = sql_row(&stmt) ? sql_i64(&stmt, 0) : -1;
    assert_true(sql_end(&stmt));
    return number;
}

static void a_connection_keeps_up_with_changes_of_rows_and_schema(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_kept.XXXXXX", path[sizeof folder + 4];
    struct err err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/db", folder);
    struct db *db = db_open(path, DB_WRITE, NULL, &err);
    assert_non_null(db);
    assert_true(sql_execute_all(db,
                                "CREATE TABLE t (id INTEGER PRIMARY KEY, number INTEGER);"
                                "INSERT INTO t VALUES (1, 10), (2, 20);",
                                &err));
    assert_int_equal(number_of(db, 1), 10);
    assert_int_equal(number_of(db, 2), 20);
    assert_int_equal(number_of(db, 3), -1);
    assert_true(sql_execute(db, "ALTER TABLE t RENAME TO old", &err));
    assert_true(sql_execute(db, "CREATE TABLE t (number INTEGER, id INTEGER PRIMARY KEY)", &err));
    assert_true(sql_execute(db, "INSERT INTO t (id, number) VALUES (1, 11)", &err));
    assert_int_equal(number_of(db, 1), 11);
    struct stmt wrong = sql_begin(db, "INSERT INTO t (id) VALUES (?)", &err);
    sql_bind_i64(&wrong, 1);
    assert_false(sql_run(&wrong));
    assert_int_equal(err.code, ERR_CONFLICT);
    err = (struct err){0};
    struct stmt right = sql_begin(db, "INSERT INTO t (id) VALUES (?)", &err);
    sql_bind_i64(&right, 2);
    assert_true(sql_run(&right));
    db_close(db, true);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_text_gets_the_same_statement_without_values,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_takes_effect_when_it_is_compiled_is_not_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_one_not_used_for_longest_makes_room, set_up, tear_down),
        cmocka_unit_test(a_connection_keeps_up_with_changes_of_rows_and_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
