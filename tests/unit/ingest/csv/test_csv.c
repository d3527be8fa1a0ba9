// SPDX-License-Identifier: Apache-2.0
// Rows and cells as writers of CSV put them, however the bytes arrive.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/buf.h"
#include "ingest/csv/csv.h"
#include "ingest/source/source.h"

// Each cell in brackets, each row on a line; then "!" if the last row was cut, "?" after a failure.
static void put_rows(struct csv *csv, struct buf *out, struct err *err)
{
    struct csv_row row;
    bool end, cut = false;
    while (csv_next(csv, &row, &end, err)) {
        for (size_t i = 0; i < row.count; i++) {
            buf_putc(out, '[');
            buf_add_str(out, row.cells[i]);
            buf_putc(out, ']');
        }
        buf_putc(out, '\n');
        cut = row.cut;
    }
    buf_puts(out, cut ? "!" : "");
    buf_puts(out, end ? "" : "?");
}

static struct err read_in_steps(struct str text, size_t step, struct buf *out)
{
    struct err err = {0};
    struct budget budget = {0};
    struct source *source = source_mem_open(text.at, text.len, step, &err);
    struct csv *csv = csv_open(source, &budget, &err);
    assert_non_null(csv);
    put_rows(csv, out, &err);
    csv_close(csv);
    source_close(source);
    assert_int_equal(budget.used, 0);
    return err;
}

static void assert_rows(struct str text, const char *rows)
{
    for (size_t step = 0; step < 4; step++) {
        struct buf out = {0};
        assert_int_equal(read_in_steps(text, step, &out).code, ERR_NONE);
        assert_string_equal(out.at ? out.at : "", rows);
        buf_free(&out);
    }
}

static void cells_are_split_at_commas_and_lines(void **state)
{
    (void)state;
    assert_rows(STR("a,b\n1,2\n"), "[a][b]\n[1][2]\n");
    assert_rows(STR("a,b\r\n1,2"), "[a][b]\n[1][2]\n");
    assert_rows(STR("a,\n,\n"), "[a][]\n[][]\n");
    assert_rows(STR("a\n\n\r\n1,2,3\n"), "[a]\n[1][2][3]\n");
    assert_rows(STR(""), "");
    assert_rows(STR("\n"), "");
}

static void quotes_hide_commas_lines_and_quotes(void **state)
{
    (void)state;
    assert_rows(STR("\"a,b\",\"c\r\nd\"\n"), "[a,b][c\r\nd]\n");
    assert_rows(STR("\"say \"\"x\"\"\",\"\"\n"), "[say \"x\"][]\n");
    assert_rows(STR("\"\"\n"), "[]\n");
    assert_rows(STR("a\"b,\"c\"d\n"), "[a\"b][cd]\n");
}

static void a_mark_is_no_part_of_the_first_cell(void **state)
{
    (void)state;
    assert_rows(STR("\xEF\xBB\xBF\"a\",b\n"), "[a][b]\n");
    assert_rows(STR("\xEF\xBB\xBF"), "");
    assert_rows(STR("a,\xEF\xBB\xBF\n"), "[a][\xEF\xBB\xBF]\n");
    assert_rows(STR("a\n\xEF\xBB\xBF\"b\",c\n"), "[a]\n[b][c]\n"); // of the next file in this one
    assert_rows(STR("a\n\"\xEF\xBB\xBF\"\n"), "[a]\n[\xEF\xBB\xBF]\n");
}

static void holes_of_nul_bytes_are_passed(void **state)
{
    (void)state;
    assert_rows(STR("\0\0\0a,b\n1,\0\0\"2\0\"\n\0\0"), "[a][b]\n[1][2]\n");
}

static void a_file_that_ends_within_quotes_is_cut(void **state)
{
    (void)state;
    assert_rows(STR("a,b\n1,\"2\n3"), "[a][b]\n[1][2\n3]\n!");
}

static void a_row_without_end_is_refused_where_it_gets_too_large(void **state)
{
    (void)state;
    struct buf text = {0}, out = {0};
    buf_puts(&text, "a\n\"");
    for (size_t i = 0; i <= CSV_MAX_ROW_BYTES; i++)
        buf_putc(&text, 'x');
    struct err err = read_in_steps((struct str){text.at, text.len}, 0, &out);
    assert_int_equal(err.code, ERR_FORMAT);
    assert_int_equal(err.pos, 3 + CSV_MAX_ROW_BYTES);
    assert_string_equal(out.at, "[a]\n?");
    buf_free(&text);
    buf_free(&out);
}

static void a_row_of_too_many_cells_is_refused(void **state)
{
    (void)state;
    struct buf text = {0}, out = {0};
    for (size_t i = 0; i <= CSV_MAX_CELLS; i++)
        buf_putc(&text, ',');
    struct err err = read_in_steps((struct str){text.at, text.len}, 0, &out);
    assert_int_equal(err.code, ERR_FORMAT);
    assert_int_equal(err.pos, CSV_MAX_CELLS);
    buf_free(&text);
    buf_free(&out);
}

static void memory_is_counted(void **state)
{
    (void)state;
    struct err err = {0};
    struct budget budget = {.limit = 1024};
    assert_null(csv_open(NULL, &budget, &err));
    assert_int_equal(err.code, ERR_LIMIT);
}

static void columns_are_found_in_the_first_line_only(void **state)
{
    (void)state;
    assert_true(csv_head_has(STR("\xEF\xBB\xBF"
                                 "a,\"B c\",d\r\n1,2,e\n"),
                             "A"));
    assert_true(csv_head_has(STR("a,\"B c\",d\r\n1,2,e\n"), "b C"));
    assert_true(csv_head_has(STR("a,b\r1,2"), "b"));
    assert_true(csv_head_has(STR("a,b"), "b"));
    assert_false(csv_head_has(STR("a,bb,\n1,b"), "b"));
    assert_false(csv_head_has(STR("a\rb"), "b"));
    assert_false(csv_head_has((struct str){NULL, 0}, "b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_split_at_commas_and_lines),
        cmocka_unit_test(quotes_hide_commas_lines_and_quotes),
        cmocka_unit_test(a_mark_is_no_part_of_the_first_cell),
        cmocka_unit_test(holes_of_nul_bytes_are_passed),
        cmocka_unit_test(a_file_that_ends_within_quotes_is_cut),
        cmocka_unit_test(a_row_without_end_is_refused_where_it_gets_too_large),
        cmocka_unit_test(a_row_of_too_many_cells_is_refused),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(columns_are_found_in_the_first_line_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
