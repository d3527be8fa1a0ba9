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

static void holes_of_nul_bytes_are_passed(void **state)
{
    (void)state;
    assert_lines(STR("\0\0\0a\n\0b\0c\n\0\0"), "0:1|a,2:2|bc,");
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

// The same as put_lines for as many lines as come at once: "pos:length[+]," of each line in them.
static void put_many(struct str text, size_t step, struct buf *out)
{
    struct err err = {0};
    struct budget budget = {0};
    struct lines lines;
    struct line many = {0};
    struct source *source = source_mem_open(text.at, text.len, step, &err);
    assert_true(lines_open(&lines, source, &budget, &err));
    while (lines_next_many(&lines, &many, &err))
        for (size_t at = 0, len; at < many.text.len; at += len) {
            const char *end = memchr(many.text.at + at, '\n', many.text.len - at);
            len = end ? (size_t)(end - many.text.at) + 1 - at : many.text.len - at;
            buf_printf(out, "%llu:%zu%s,", (unsigned long long)(many.pos + at), len,
                       many.cut ? "+" : "");
        }
    assert_int_equal(err.code, ERR_NONE);
    lines_close(&lines);
    source_close(source);
    assert_int_equal(budget.used, 0);
    buf_putc(out, '\0');
}

static void assert_many(struct str text, const char *expected)
{
    for (size_t step = 0; step < 9; step++) {
        struct buf out = {0};
        put_many(text, step * (1 + text.len / 1000), &out);
        assert_string_equal(out.at, expected);
        buf_free(&out);
    }
}

static void many_lines_come_with_their_ends(void **state)
{
    (void)state;
    assert_many(STR(""), "");
    assert_many(STR("a"), "0:1,");
    assert_many(STR("a\r\n\nbc\n"), "0:3,3:1,4:3,");
}

static void a_line_too_long_for_many_ends_at_a_return_or_is_cut(void **state)
{
    (void)state;
    struct buf text = {0};
    char expected[128];
    buf_puts(&text, "a\n");
    for (size_t i = 0; i < LINES_MAX_BYTES + 10; i++)
        buf_putc(&text, i == 100 ? '\r' : 'x');
    buf_puts(&text, "\n");
    for (size_t i = 0; i < LINES_MAX_BYTES + 1; i++)
        buf_putc(&text, 'x');
    buf_puts(&text, "\nb");
    snprintf(expected, sizeof expected, "0:2,2:101,103:%zu,%zu:%zu+,%zu:1,", LINES_MAX_BYTES - 90,
             LINES_MAX_BYTES + 13, LINES_MAX_BYTES, 2 * LINES_MAX_BYTES + 15);
    assert_many((struct str){text.at, text.len}, expected);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_any_way),
        cmocka_unit_test(holes_of_nul_bytes_are_passed),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(many_lines_come_with_their_ends),
        cmocka_unit_test(a_line_too_long_for_many_ends_at_a_return_or_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
