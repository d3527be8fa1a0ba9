// SPDX-License-Identifier: Apache-2.0
// Building text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "ingest/base/buf.h"

static void assert_json(struct str text, const char *expected)
{
    struct buf buf = {0};
    buf_json(&buf, text);
    assert_string_equal(buf.at, expected);
    buf_free(&buf);
}

static void json_texts_are_escaped(void **state)
{
    (void)state;
    assert_json(STR("plain"), "\"plain\"");
    assert_json(STR(""), "\"\"");
    assert_json(STR("a\"b\\c\n\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
    assert_json(STR("nul\0!"), "\"nul\\u0000!\"");
    assert_json(STR("\xC3\xA9"), "\"\xC3\xA9\"");
    assert_json(STR("x\xFFy"), "\"x\xEF\xBF\xBDy\"");
    assert_json((struct str){NULL, 0}, "\"\"");
}

// Eight bytes are looked at together.
static void json_texts_are_escaped_at_any_place(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++)
        for (size_t at = 0; at < 24; at++) {
            char text[24], one = (char)c;
            struct buf alone = {0}, expected = {0};
            memset(text, 'x', sizeof text);
            text[at] = one;
            buf_json(&alone, (struct str){&one, 1});
            buf_printf(&expected, "\"%.*s%.*s%.*s\"", (int)at, "xxxxxxxxxxxxxxxxxxxxxxxx",
                       (int)alone.len - 2, alone.at + 1, (int)(sizeof text - at - 1),
                       "xxxxxxxxxxxxxxxxxxxxxxxx");
            assert_json((struct str){text, sizeof text}, expected.at);
            buf_free(&alone);
            buf_free(&expected);
        }
}

static void doubles_read_back_as_the_same_value(void **state)
{
    (void)state;
    static const double values[] = {0,
                                    1,
                                    -1.5,
                                    0.1,
                                    1.0 / 3,
                                    1e300,
                                    DBL_MAX,
                                    DBL_MIN,
                                    5e-324,
                                    123456789.123456789,
                                    9007199254740993.0};
    struct buf buf = {0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        buf_clear(&buf);
        buf_f64(&buf, values[i]);
        assert_true(strtod(buf.at, NULL) == values[i]);
    }
    buf_clear(&buf);
    buf_f64(&buf, 0.1);
    buf_puts(&buf, " ");
    buf_f64(&buf, (double)INFINITY);
    buf_puts(&buf, " ");
    buf_f64(&buf, (double)NAN);
    assert_string_equal(buf.at, "0.1 null null");
    buf_free(&buf);
}

static void expect_as_printed(struct buf *buf, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buf_clear(buf);
    buf_f64(buf, value);
    assert_string_equal(buf->at, text);
}

static void doubles_are_as_short_as_printed(void **state)
{
    (void)state;
    struct buf buf = {0};
    uint64_t random = 42;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double whole = (double)(random >> (random % 60)), unit = pow(10, (double)(i % 24));
        expect_as_printed(&buf, whole / unit);
        expect_as_printed(&buf, -whole / (double)(i + 1));
        expect_as_printed(&buf, nextafter(round(whole / unit), (i & 1) ? 0 : INFINITY));
        expect_as_printed(&buf, nextafter(unit / 1e5, (i & 1) ? 0 : INFINITY));
    }
    expect_as_printed(&buf, 0.0);
    expect_as_printed(&buf, -0.0);
    buf_free(&buf);
}

static void text_of_any_length_is_kept_with_its_nul(void **state)
{
    (void)state;
    struct buf buf = {0};
    for (int i = 0; i < 5000; i++) {
        buf_putc(&buf, (char)('a' + i % 26));
        assert_int_equal(buf.at[buf.len], '\0');
    }
    buf_printf(&buf, "%0600d", 7);
    buf_i64(&buf, INT64_MIN);
    assert_int_equal(buf.len, 5000 + 600 + 20);
    assert_string_equal(buf.at + 5599, "7-9223372036854775808");
    struct err err;
    assert_true(buf_ok(&buf, &err));
    buf_free(&buf);
}

static void a_failed_buffer_stays_failed_until_it_is_cleared(void **state)
{
    (void)state;
    struct buf buf = {0};
    struct err err;
    buf_puts(&buf, "x");
    buf.failed = true; // as after a failed allocation
    buf_puts(&buf, "y");
    assert_int_equal(buf.len, 1);
    assert_false(buf_ok(&buf, &err));
    assert_int_equal(err.code, ERR_MEMORY);
    buf_clear(&buf);
    assert_true(buf_ok(&buf, &err));
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_texts_are_escaped),
        cmocka_unit_test(json_texts_are_escaped_at_any_place),
        cmocka_unit_test(doubles_read_back_as_the_same_value),
        cmocka_unit_test(doubles_are_as_short_as_printed),
        cmocka_unit_test(text_of_any_length_is_kept_with_its_nul),
        cmocka_unit_test(a_failed_buffer_stays_failed_until_it_is_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
