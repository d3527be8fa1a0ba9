// SPDX-License-Identifier: Apache-2.0
// Databases from outside: anything may be missing, damaged or made to never end.
#include "tests/unit/foreign_database.h"

#include "ingest/sqlite/database.h"

#include <stdlib.h>

// A database, open.
struct opened {
    struct buf bytes;
    struct source *source;
    struct database *database;
    struct err err;
};

static void reopen(struct opened *opened)
{
    opened->err = (struct err){0};
    opened->source = source_mem_open(opened->bytes.at, opened->bytes.len, 0, &opened->err);
    assert_non_null(opened->source);
    opened->database = database_open(opened->source, NULL, &opened->err);
}

static void close_source(struct opened *opened)
{
    database_close(opened->database);
    source_close(opened->source);
    opened->database = NULL;
}

static struct opened open_sql(const char *sql)
{
    struct opened opened = {0};
    foreign_database(&opened.bytes, sql);
    reopen(&opened);
    return opened;
}

static void close_all(struct opened *opened)
{
    close_source(opened);
    buf_free(&opened->bytes);
}

// Rows of a table, or -1 with the error.
static int64_t count_rows(struct opened *opened, const char *table, const char *columns)
{
    struct rows rows;
    int64_t count = 0;
    bool ok = rows_open(opened->database, table, columns, &rows, &opened->err);
    while (ok && rows_next(&rows))
        count++;
    return rows_close(&rows, ok ? &opened->err : NULL) && ok ? count : -1;
}

static void walks_can_be_confined_to_some_rows(void **state)
{
    (void)state;
    struct opened opened = open_sql(
        "CREATE TABLE t(b TEXT, a INT); INSERT INTO t VALUES('x', 1), ('y', 9), ('z', NULL),"
        "('u', 10), ('v', -1), ('w', 'text'); CREATE TABLE keyed(a INTEGER PRIMARY KEY, c INT);"
        "INSERT INTO keyed VALUES(1, 5), (9, 6), (20, 7), (5, 8); CREATE TABLE other(c INT);"
        "INSERT INTO other VALUES(3);");
    const struct rows_only only[] = {{"a", 1, 9}, {"c", 6, 8}, {NULL, 0, 0}};
    const struct rows_only all[] = {{"a", INT64_MIN, INT64_MAX}, {NULL, 0, 0}};
    database_only(opened.database, only);
    assert_int_equal(count_rows(&opened, "t", "b a"), 3); // null is no other value
    assert_int_equal(count_rows(&opened, "t", "b"), 6);   // not asked for
    assert_int_equal(count_rows(&opened, "t", "b aa"), 6);
    assert_int_equal(count_rows(&opened, "keyed", "a"), 3);
    assert_int_equal(count_rows(&opened, "keyed", "a c"), 2);
    assert_int_equal(count_rows(&opened, "other", "a"), 1); // not there
    database_only(opened.database, all);
    assert_int_equal(count_rows(&opened, "t", "a"), 5);
    database_only(opened.database, NULL);
    assert_int_equal(count_rows(&opened, "t", "b a"), 6);
    close_all(&opened);
}

static void columns_are_found_by_name_and_missing_ones_are_null(void **state)
{
    (void)state;
    struct opened opened = open_sql("CREATE TABLE t(b, a); INSERT INTO t VALUES(2, 1), (4, 3);");
    struct rows rows;
    int64_t value;
    struct str text;
    double real;
    assert_true(rows_open(opened.database, "t", "a none b", &rows, &opened.err));
    assert_true(rows.has[0] && !rows.has[1] && rows.has[2]);
    for (int64_t i = 0; i < 2; i++) {
        assert_true(rows_next(&rows));
        assert_int_equal(rows_i64_or(&rows, 0, -1), 2 * i + 1);
        assert_int_equal(rows_i64_or(&rows, 2, -1), 2 * i + 2);
        assert_false(rows_i64(&rows, 1, &value));
        assert_false(rows_f64(&rows, 1, &real));
        assert_false(rows_text(&rows, 1, &text));
        assert_int_equal(rows_i64_or(&rows, 1, 7), 7);
    }
    assert_false(rows_next(&rows));
    assert_true(rows_close(&rows, &opened.err));
    assert_int_equal(count_rows(&opened, "not there", "a"), 0);
    close_all(&opened);
}

static void each_cell_has_its_own_type(void **state)
{
    (void)state;
    struct opened opened =
        open_sql("CREATE TABLE t(a); INSERT INTO t VALUES(9223372036854775807), "
                 "(-9223372036854775807 - 1), (1.5), ('12'), (x'00ff'), (NULL), (''), (-7.0), "
                 "(9e15), (1e16), (-1e300);");
    struct rows rows;
    int64_t value;
    struct str text;
    double real;
    assert_true(rows_open(opened.database, "t", "a", &rows, &opened.err));
    assert_true(rows_next(&rows) && rows_i64(&rows, 0, &value) && value == INT64_MAX);
    assert_true(rows_f64(&rows, 0, &real) && !rows_text(&rows, 0, &text));
    assert_true(rows_next(&rows) && rows_i64(&rows, 0, &value) && value == INT64_MIN);
    assert_true(rows_next(&rows) && !rows_i64(&rows, 0, &value) && rows_f64(&rows, 0, &real));
    assert_true(rows_next(&rows) && !rows_i64(&rows, 0, &value) && rows_text(&rows, 0, &text));
    assert_true(str_equal(text, STR("12")) && !rows_f64(&rows, 0, &real));
    assert_true(rows_next(&rows) && rows_text(&rows, 0, &text) && text.len == 2);
    assert_true(rows_next(&rows) && !rows_text(&rows, 0, &text) && !rows_i64(&rows, 0, &value));
    assert_true(rows_next(&rows) && rows_text(&rows, 0, &text) && text.len == 0);
    assert_true(rows_next(&rows) && rows_i64(&rows, 0, &value) && value == -7);
    assert_true(rows_next(&rows) && rows_i64(&rows, 0, &value) && value == 9000000000000000);
    assert_true(rows_next(&rows) && !rows_i64(&rows, 0, &value));
    assert_true(rows_next(&rows) && !rows_i64(&rows, 0, &value));
    assert_true(rows_close(&rows, &opened.err));
    close_all(&opened);
}

static void only_tables_with_rows_of_their_own_are_read(void **state)
{
    (void)state;
    struct opened opened = open_sql("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2);"
                                    "CREATE VIEW v AS SELECT a FROM t;"
                                    "CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID;"
                                    "INSERT INTO w VALUES('x', 1), ('y', 2), ('z', 3);"
                                    "CREATE TABLE \"a \"\"b\"(\"c \"\"d\");"
                                    "INSERT INTO \"a \"\"b\" VALUES(1);");
    assert_false(database_has(opened.database, "v"));
    assert_true(database_has(opened.database, "t"));
    assert_true(database_has(opened.database, "a \"b"));
    assert_true(database_has(opened.database, "a*"));
    assert_int_equal(count_rows(&opened, "v", "a"), 0);
    assert_int_equal(count_rows(&opened, "w", "b"), 3);
    assert_int_equal(count_rows(&opened, "a \"b", "c"), 1);
    assert_true(database_has_column(opened.database, "w", "b"));
    assert_false(database_has_column(opened.database, "v", "a"));
    close_all(&opened);
}

#define MANY_ROWS                                                                     \
    "PRAGMA page_size = 512; CREATE TABLE t(a, b);"                                   \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) " \
    "INSERT INTO t SELECT i, 'text of a row that has a few bytes' FROM n;"

static void a_cut_database_gives_the_rows_before_the_cut(void **state)
{
    (void)state;
    struct opened opened = open_sql(MANY_ROWS);
    assert_int_equal(count_rows(&opened, "t", "a"), 2000);
    assert_false(database_state(opened.database).cut);
    size_t whole = opened.bytes.len;
    for (int part = 1; part < 20; part++) {
        close_source(&opened);
        opened.bytes.len = whole * (size_t)part / 20;
        reopen(&opened);
        int64_t count = opened.database ? count_rows(&opened, "t", "a") : 0;
        assert_in_range(count, 0, 1999);
        if (opened.database)
            assert_true(database_state(opened.database).cut);
        else
            assert_int_equal(opened.err.code, ERR_FORMAT);
        assert_true(part < 15 || count > 100);
    }
    opened.bytes.len = whole;
    close_all(&opened);
}

static void of_a_page_that_is_cut_no_row_is_made_up(void **state)
{
    (void)state;
    struct opened opened = open_sql(MANY_ROWS);
    size_t whole = opened.bytes.len;
    for (size_t cut = 1; cut < 512; cut += 51) {
        struct rows rows;
        struct str text = STR("");
        int64_t count = 0;
        close_source(&opened);
        opened.bytes.len = whole / 1024 * 512 + cut;
        reopen(&opened);
        assert_non_null(opened.database);
        assert_true(rows_open(opened.database, "t", "a b", &rows, &opened.err));
        while (rows_next(&rows)) {
            assert_int_equal(rows_i64_or(&rows, 0, -1), ++count);
            assert_true(rows_text(&rows, 1, &text));
            assert_true(str_equal(text, STR("text of a row that has a few bytes")));
        }
        assert_true(rows_close(&rows, &opened.err) && count > 100);
    }
    opened.bytes.len = whole;
    close_all(&opened);
}

static void a_log_in_use_is_said(void **state)
{
    (void)state;
    struct opened opened = open_sql(MANY_ROWS);
    assert_false(database_state(opened.database).has_log);
    close_source(&opened);
    opened.bytes.at[18] = opened.bytes.at[19] = 2;
    reopen(&opened);
    assert_non_null(opened.database);
    assert_true(database_state(opened.database).has_log);
    assert_int_equal(count_rows(&opened, "t", "a"), 2000);
    close_all(&opened);
}

// --- trees without an end -----------------------------------------------------------------------

enum { PAGE = 512, ROOT = 2 }; // of t in MANY_ROWS

static unsigned char *page_at(struct opened *opened, unsigned number)
{
    return (unsigned char *)opened->bytes.at + (size_t)(number - 1) * PAGE;
}

// An inner page of a table all of whose children are one page.
static void put_inner(unsigned char *page, unsigned child, unsigned cells)
{
    memset(page, 0, PAGE);
    page[0] = 5;
    page[4] = (unsigned char)cells;
    unsigned at = PAGE;
    for (unsigned i = 0; i < cells; i++) {
        at -= 5;
        page[at + 3] = (unsigned char)child;
        page[at + 4] = (unsigned char)(i + 1); // key
        page[12 + 2 * i] = (unsigned char)(at >> 8);
        page[13 + 2 * i] = (unsigned char)at;
    }
    page[5] = (unsigned char)(at >> 8);
    page[6] = (unsigned char)at;
    page[11] = (unsigned char)child;
}

static unsigned a_leaf(struct opened *opened)
{
    for (unsigned number = 100; number < 200; number++)
        if (page_at(opened, number)[0] == 13)
            return number;
    fail_msg("found no leaf");
    return 0;
}

static void pages_in_a_circle_end(void **state)
{
    (void)state;
    struct opened opened = open_sql(MANY_ROWS);
    close_source(&opened);
    put_inner(page_at(&opened, ROOT), ROOT, 40);
    reopen(&opened);
    assert_non_null(opened.database);
    assert_in_range(count_rows(&opened, "t", "a"), 0, 2000);
    assert_true(database_state(opened.database).damaged);
    assert_false(database_state(opened.database).cut);
    close_all(&opened);
}

static void a_tree_that_multiplies_is_refused(void **state)
{
    (void)state;
    struct opened opened = open_sql(MANY_ROWS);
    unsigned leaf = a_leaf(&opened);
    close_source(&opened);
    for (unsigned level = 0; level < 10; level++)
        put_inner(page_at(&opened, ROOT + level), level < 9 ? ROOT + level + 1 : leaf, 40);
    reopen(&opened);
    assert_non_null(opened.database);
    assert_int_equal(count_rows(&opened, "t", "a"), -1);
    assert_int_equal(opened.err.code, ERR_LIMIT);
    close_all(&opened);
}

// A value's pages lead in a circle, so that it is as long as it says, and rows multiply it.
static void values_that_multiply_are_refused(void **state)
{
    (void)state;
    struct opened opened = open_sql("PRAGMA page_size = 512; CREATE TABLE t(a);"
                                    "INSERT INTO t VALUES(zeroblob(20000000));");
    close_source(&opened);
    // Move the row to its own page, make its chain a circle, multiply it, and cut the rest.
    unsigned char *page = page_at(&opened, ROOT);
    unsigned first = (unsigned)page[PAGE - 1] | (unsigned)page[PAGE - 2] << 8;
    assert_int_equal(page[0], 13);
    assert_in_range(first, 3, 20);
    unsigned char *chain = page_at(&opened, first);
    memset(chain, 0, 4);
    chain[3] = (unsigned char)first;
    memcpy(page_at(&opened, 30), page, PAGE);
    for (unsigned level = 0; level < 5; level++)
        put_inner(page_at(&opened, level ? 40 + level : ROOT), level < 4 ? 41 + level : 30, 40);
    opened.bytes.len = (size_t)100 * PAGE;
    reopen(&opened);
    assert_non_null(opened.database);
    assert_int_equal(count_rows(&opened, "t", "a"), -1);
    assert_int_equal(opened.err.code, ERR_LIMIT);
    close_all(&opened);
}

static void what_is_no_database_is_refused(void **state)
{
    (void)state;
    struct opened opened = {0};
    buf_puts(&opened.bytes, "SQLite format 3");
    buf_putc(&opened.bytes, '\0');
    for (int i = 0; i < 1000; i++)
        buf_puts(&opened.bytes, "noise");
    reopen(&opened);
    assert_null(opened.database);
    assert_int_equal(opened.err.code, ERR_FORMAT);
    close_all(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_and_missing_ones_are_null),
        cmocka_unit_test(each_cell_has_its_own_type),
        cmocka_unit_test(only_tables_with_rows_of_their_own_are_read),
        cmocka_unit_test(a_cut_database_gives_the_rows_before_the_cut),
        cmocka_unit_test(of_a_page_that_is_cut_no_row_is_made_up),
        cmocka_unit_test(a_log_in_use_is_said),
        cmocka_unit_test(pages_in_a_circle_end),
        cmocka_unit_test(a_tree_that_multiplies_is_refused),
        cmocka_unit_test(values_that_multiply_are_refused),
        cmocka_unit_test(walks_can_be_confined_to_some_rows),
        cmocka_unit_test(what_is_no_database_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
