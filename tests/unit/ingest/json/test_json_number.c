// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as they occur in traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "ingest/json/json_number.h"
#include "tests/tracegen/splitmix.h"

#define MAX_NS ((int64_t)1 << 61)

static void microseconds_become_nanoseconds_without_loss(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"1", 1000},
        {"5.1", 5100},
        {"5.12", 5120},
        {"5.123", 5123},
        {"5.", 5000},
        {".5", 500},
        {"+3", 3000},
        {"1712195495519689.047", 1712195495519689047},
        {"1712195495519689.0479999999", 1712195495519689047},
        {"0.0009999", 0},
        {"-0.0019", -1},
        {"-2.5", -2500},
        {"-0", 0},
        {"00012.5", 12500},
        {"1e3", 1000000},
        {"1.7e15", 1700000000000000000},
        {"1.7E+15", 1700000000000000000},
        {"17123456e-4", 1712345},
        {"123456e-8", 1},
        {"1e-100000", 0},
        {"0e99999", 0},
        {"0.000000000000000000000000000000000000000000000000000000000000000000000001e75", 1000000},
        {"99999999999999999999999", MAX_NS},
        {"-99999999999999999999999", -MAX_NS},
        {"1e400", MAX_NS},
        {"2305843009213693.951", 2305843009213693951},
        {"2305843009213693.952", MAX_NS},
        {"2305843009213693.953", MAX_NS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns;
        if (!json_us_to_ns(str_of(cases[i].text), MAX_NS, &ns) || ns != cases[i].ns)
            fail_msg("%s: expected %" PRId64 ", found %" PRId64, cases[i].text, cases[i].ns, ns);
    }
}

static void any_number_of_nanoseconds_survives_being_written_as_microseconds(void **state)
{
    (void)state;
    struct splitmix random = {7};
    for (int i = 0; i < 20000; i++) {
        int64_t ns = (int64_t)(splitmix_next(&random) >> (3 + i % 60)), back;
        char text[48];
        snprintf(text, sizeof text, "%" PRId64 ".%03" PRId64, ns / 1000, ns % 1000);
        assert_true(json_us_to_ns(str_of(text), MAX_NS, &back));
        assert_int_equal(back, ns);
        snprintf(text, sizeof text, "-%" PRId64 ".%03" PRId64 "7", ns / 1000, ns % 1000);
        assert_true(json_us_to_ns(str_of(text), MAX_NS, &back));
        assert_int_equal(back, -ns);
        snprintf(text, sizeof text, "%" PRId64 "e-3", ns);
        assert_true(json_us_to_ns(str_of(text), MAX_NS, &back));
        assert_int_equal(back, ns);
    }
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-",
                                      ".",
                                      "e5",
                                      "1e",
                                      "1e+",
                                      "1.2.3",
                                      "1 ",
                                      " 1",
                                      "inf",
                                      "nan",
                                      "N/A",
                                      "null",
                                      "0x10",
                                      "1,5",
                                      "--1",
                                      "1e5x",
                                      "12a",
                                      "1e99999999999999999999",
                                      "true"};
    int64_t value;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(json_us_to_ns(str_of(bad[i]), MAX_NS, &value));
        assert_false(json_to_i64(str_of(bad[i]), &value));
    }
}

static void integers_are_cut_and_those_that_do_not_fit_refused(void **state)
{
    (void)state;
    int64_t value;
    assert_true(json_to_i64(STR("12.9"), &value));
    assert_int_equal(value, 12);
    assert_true(json_to_i64(STR("-12.9"), &value));
    assert_int_equal(value, -12);
    assert_true(json_to_i64(STR("1e3"), &value));
    assert_int_equal(value, 1000);
    assert_true(json_to_i64(STR("9223372036854775807"), &value));
    assert_true(value == INT64_MAX);
    assert_false(json_to_i64(STR("18446744073709551615"), &value));
    assert_false(json_to_i64(STR("-1e19"), &value));
}

static void addresses_have_64_bits_whatever_their_sign(void **state)
{
    (void)state;
    uint64_t bits;
    assert_true(json_to_bits(STR("18446744073709551615"), &bits) && bits == UINT64_MAX);
    assert_true(json_to_bits(STR("9223372036854775808"), &bits) && bits == UINT64_C(1) << 63);
    assert_true(json_to_bits(STR("-1"), &bits) && bits == UINT64_MAX);
    assert_true(json_to_bits(STR("7"), &bits) && bits == 7);
    assert_false(json_to_bits(STR("18446744073709551616"), &bits));
    assert_false(json_to_bits(STR("-9223372036854775809"), &bits));
    assert_false(json_to_bits(STR(""), &bits));
}

static void plain_texts_are_distinguished_from_those_that_need_decoding(void **state)
{
    (void)state;
    char text[40];
    for (size_t len = 0; len < 30; len++) {
        memset(text, ' ', len);
        assert_true(json_text_is_plain((struct str){text, len}));
        for (size_t at = 0; at < len; at++)
            for (int c = 0; c < 256; c++) {
                memset(text, at % 2 ? '~' : ' ', len);
                text[at] = (char)c;
                bool plain = c >= 0x20 && c < 0x80 && c != '\\';
                assert_int_equal(json_text_is_plain((struct str){text, len}), plain);
            }
    }
}

static void check_decode(struct str raw, struct str expected, bool clean)
{
    struct buf out = {0};
    char *exact = malloc(raw.len ? raw.len : 1);
    memcpy(exact, raw.at, raw.len);
    assert_int_equal(json_text_decode((struct str){exact, raw.len}, &out), clean);
    assert_int_equal(out.len, expected.len);
    assert_memory_equal(out.at ? out.at : "", expected.at, expected.len);
    buf_free(&out);
    free(exact);
}

static void escapes_are_resolved(void **state)
{
    (void)state;
    check_decode(STR(""), STR(""), true);
    check_decode(STR("\\\"\\\\\\/\\b\\f\\n\\r\\t"), STR("\"\\/\b\f\n\r\t"), true);
    check_decode(STR("\\u0041\\u00e9\\u20AC"), STR("A\xC3\xA9\xE2\x82\xAC"), true);
    check_decode(STR("\\uD83D\\uDE00"), STR("\xF0\x9F\x98\x80"), true);
    check_decode(STR("\\u0000"), STR("\0"), true);
}

static void broken_escapes_stay_as_text(void **state)
{
    (void)state;
    check_decode(STR("C:\\Python"), STR("C:\\Python"), false);
    check_decode(STR("\\u12"), STR("\\u12"), false);
    check_decode(STR("\\u12G4"), STR("\\u12G4"), false);
    check_decode(STR("end\\"), STR("end\\"), false);
    check_decode(STR("\\u"), STR("\\u"), false);
}

static void lone_surrogates_and_bad_bytes_become_replacement_characters(void **state)
{
    (void)state;
    check_decode(STR("\\uD83D"), STR("\xEF\xBF\xBD"), false);
    check_decode(STR("\\uDE00x"), STR("\xEF\xBF\xBDx"), false);
    check_decode(STR("\\uD83D\\u0041"),
                 STR("\xEF\xBF\xBD"
                     "A"),
                 false);
    check_decode(STR("\\uD83D\\uD83D\\uDE00"), STR("\xEF\xBF\xBD\xF0\x9F\x98\x80"), false);
    // One per maximal subpart, the example of the Unicode standard (table 3-11).
    check_decode(STR("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
                 STR("a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                     "b\xEF\xBF\xBD"
                     "c\xEF\xBF\xBD"
                     "\xEF\xBF\xBD"
                     "d"),
                 false);
    check_decode(STR("raw\nline"), STR("raw\nline"), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(microseconds_become_nanoseconds_without_loss),
        cmocka_unit_test(any_number_of_nanoseconds_survives_being_written_as_microseconds),
        cmocka_unit_test(what_is_no_number_is_refused),
        cmocka_unit_test(integers_are_cut_and_those_that_do_not_fit_refused),
        cmocka_unit_test(addresses_have_64_bits_whatever_their_sign),
        cmocka_unit_test(plain_texts_are_distinguished_from_those_that_need_decoding),
        cmocka_unit_test(escapes_are_resolved),
        cmocka_unit_test(broken_escapes_stay_as_text),
        cmocka_unit_test(lone_surrogates_and_bad_bytes_become_replacement_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
