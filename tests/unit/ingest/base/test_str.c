// SPDX-License-Identifier: Apache-2.0
// Comparing, searching and checking text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/str.h"

static void order_is_that_of_bytes_and_then_of_length(void **state)
{
    (void)state;
    assert_true(str_compare(STR("a"), STR("b")) < 0);
    assert_true(str_compare(STR("b"), STR("ab")) > 0);
    assert_true(str_compare(STR("a"), STR("ab")) < 0);
    assert_true(str_compare(STR("\x7f"), STR("\x80")) < 0);
    assert_int_equal(str_compare(STR(""), STR("")), 0);
    assert_true(str_compare((struct str){NULL, 0}, STR("a")) < 0);
}

static void a_needle_is_found_where_it_first_begins(void **state)
{
    (void)state;
    assert_int_equal(str_find(STR("abcabc"), STR("ca")), 2);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_true(str_find(STR("ab"), STR("abc")) == SIZE_MAX);
    assert_true(str_find((struct str){NULL, 0}, STR("a")) == SIZE_MAX);
    assert_int_equal(str_find(STR("a\0b"), STR("\0b")), 1);
}

static void case_is_ignored_in_ascii_only(void **state)
{
    (void)state;
    assert_true(str_equal_nocase(STR("KERNEL"), STR("kernel")));
    assert_false(str_equal_nocase(STR("[ernel"), STR("{ernel")));
    assert_false(str_equal_nocase(STR("\xC3\x84"), STR("\xC3\xA4")));
    assert_true(str_contains_nocase(STR("ncclDevKernel"), STR("devk")));
    assert_false(str_contains_nocase(STR("nccl"), STR("nccld")));
    assert_true(str_contains_nocase(STR(""), STR("")));
}

static void integers_are_read_exactly_or_not_at_all(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+7", 7},
                {"007", 7},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x1",
                                      "1e3",
                                      "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(str_to_i64(str_of(good[i].text), &value));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(str_to_i64(str_of(bad[i]), &value));
}

static void a_number_at_the_start_is_cut_off(void **state)
{
    (void)state;
    int64_t value;
    struct str text = STR("12:34");
    assert_true(str_take_i64(&text, &value));
    assert_int_equal(value, 12);
    assert_false(str_take_i64(&text, &value));
    assert_true(str_equal(text, STR(":34")));
    text = STR("9223372036854775808");
    assert_false(str_take_i64(&text, &value));
    assert_int_equal(text.len, 19);
}

static void digits_end_and_start_where_others_are(void **state)
{
    (void)state;
    struct str text = STR("a12b34");
    assert_int_equal(str_digits_end(text, 0), 0);
    assert_int_equal(str_digits_end(text, 1), 3);
    assert_int_equal(str_digits_end(text, 4), 6);
    assert_int_equal(str_digits_start(text, 6), 4);
    assert_int_equal(str_digits_start(text, 4), 4);
    assert_int_equal(str_digits_start(text, 0), 0);
}

static void characters_at_both_ends_are_trimmed(void **state)
{
    (void)state;
    assert_true(str_equal(str_trim(STR(" \ta b\t"), " \t"), STR("a b")));
    assert_true(str_equal(str_trim(STR("a\r"), " \t"), STR("a\r")));
    assert_int_equal(str_trim(STR("   "), " ").len, 0);
    assert_int_equal(str_trim((struct str){NULL, 0}, " ").len, 0);
}

static void utf8_sequences_follow_table_3_7_of_unicode(void **state)
{
    (void)state;
    const struct {
        struct str text;
        size_t len, bad;
    } cases[] = {
        {STR("a"), 1, 1},
        {STR("\xC2\x80"), 2, 2},
        {STR("\xE0\xA0\x80"), 3, 3},
        {STR("\xF4\x8F\xBF\xBF"), 4, 4},
        {STR("\xC0\xAF"), 0, 1},         // overlong
        {STR("\xE0\x9F\x80"), 0, 1},     // overlong
        {STR("\xED\xA0\x80"), 0, 1},     // surrogate
        {STR("\xF4\x90\x80\x80"), 0, 1}, // past U+10FFFF
        {STR("\xF5\x80\x80\x80"), 0, 1},
        {STR("\x80"), 0, 1},
        {STR("\xE2\x82"), 0, 2}, // cut: the maximal subpart is both bytes
        {STR("\xF1\x80\x80\x41"), 0, 3},
        {STR("\xF1\x80\xE1\x80"), 0, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bad;
        assert_int_equal(str_utf8_next(cases[i].text, &bad), cases[i].len);
        if (cases[i].len == 0)
            assert_int_equal(bad, cases[i].bad);
    }
}

static void the_valid_prefix_ends_before_the_first_bad_byte(void **state)
{
    (void)state;
    assert_int_equal(str_valid_utf8(STR("h\xC3\xA9\xE2\x82\xAC")), 6);
    assert_int_equal(str_valid_utf8(STR("ab\xFFgh")), 2);
    assert_int_equal(str_valid_utf8(STR("ab\xE2\x82")), 2);
    assert_int_equal(str_valid_utf8(STR("")), 0);
}

static void bytes_become_lower_case_hex(void **state)
{
    (void)state;
    char out[7];
    str_hex(out, (const unsigned char[]){0x00, 0x9f, 0xe5}, 3);
    assert_string_equal(out, "009fe5");
    str_hex(out, NULL, 0);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_lower_case_hex),
        cmocka_unit_test(order_is_that_of_bytes_and_then_of_length),
        cmocka_unit_test(a_needle_is_found_where_it_first_begins),
        cmocka_unit_test(case_is_ignored_in_ascii_only),
        cmocka_unit_test(integers_are_read_exactly_or_not_at_all),
        cmocka_unit_test(a_number_at_the_start_is_cut_off),
        cmocka_unit_test(digits_end_and_start_where_others_are),
        cmocka_unit_test(characters_at_both_ends_are_trimmed),
        cmocka_unit_test(utf8_sequences_follow_table_3_7_of_unicode),
        cmocka_unit_test(the_valid_prefix_ends_before_the_first_bad_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
