// SPDX-License-Identifier: Apache-2.0
// Lines are the same whatever the pieces in which they arrive.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/buf.h"
#include "ingest/source/lines.h"

// "pos:length[+]|text," for each; of long texts only the start.
static void put_lines(struct str text, size_t step, struct buf *out)
{
    struct err err = {0};
    struct budget budget = {0};
    struct lines lines;
    struct line line = {0};
    struct source *source = source_mem_open(text.at, text.len, step, &err);
    assert_true(lines_open(&lines, source, &budget, &err));
    while (lines_next(&lines, &line, &err))
        buf_printf(out, "%llu:%zu%s|%.*s,", (unsigned long long)line.pos, line.text.len,
                   line.cut ? "+" : "", (int)(line.text.len < 9 ? line.text.len : 9), line.text.at);
    assert_int_equal(err.code, ERR_NONE);
    lines_close(&lines);
    source_close(source);
    assert_int_equal(budget.used, 0);
    buf_putc(out, '\0');
}

static void assert_lines(struct str text, const char *expected)
{
    for (size_t step = 0; step < 9; step++) {
        struct buf out = {0};
        put_lines(text, step, &out);
        assert_string_equal(out.at, expected);
        buf_free(&out);
    }
}

static void lines_end_in_any_way(void **state)
{
    (void)state;
    assert_lines(STR(""), "");
    assert_lines(STR("a"), "0:1|a,");
    assert_lines(STR("a\r\n\nbc\n"), "0:1|a,3:0|,4:2|bc,");
    assert_lines(STR("\n\r"), "0:0|,1:0|,");
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    struct buf text = {0}, out = {0};
    char expected[128];
    for (size_t i = 0; i < LINES_MAX_BYTES * 3; i++)
        buf_putc(&text, 'x');
    buf_puts(&text, "\nafter\n");
    put_lines((struct str){text.at, text.len}, 1000, &out);
    const char *second = strchr(out.at, ',');
    snprintf(expected, sizeof expected, ",%zu:5|after,", LINES_MAX_BYTES * 3 + 1);
    assert_string_equal(second, expected);
    assert_non_null(strstr(out.at, "+|xxxxxxxxx,"));
    buf_free(&text);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_any_way),
        cmocka_unit_test(a_long_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
