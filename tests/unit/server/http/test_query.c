// SPDX-License-Identifier: Apache-2.0
// Addresses decode to text and nothing else, and parameters are found by name.
#include "server/http/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool decodes(const char *text, bool plus, const char *expected)
{
    struct arena arena;
    struct err err = {0};
    struct str decoded;
    arena_init(&arena, NULL);
    bool ok = query_decode(str_of(text), plus, &arena, &decoded, &err);
    bool as_expected =
        expected ? ok && str_equal(decoded, str_of(expected)) : !ok && err.code == ERR_USAGE;
    arena_free(&arena);
    return as_expected;
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    assert_true(decodes("a%20b%2Fc%2fd", false, "a b/c/d"));
    assert_true(decodes("a+b", true, "a b"));
    assert_true(decodes("a+b", false, "a+b"));
    assert_true(decodes("%C3%A9", false, "\xC3\xA9"));
    assert_true(decodes("%252e", false, "%2e"));
    assert_true(decodes("", false, ""));
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"%",    "%4",  "%4g", "%g4", "a%00b", "%0d%0a",
                               "\x01", "%7f", "%ff", "%C3", "\xC3",  "%ED%A0%80"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (!decodes(bad[i], true, NULL))
            fail_msg("'%s' was decoded", bad[i]);
}

static void parameters_are_split_and_the_last_of_a_name_wins(void **state)
{
    (void)state;
    struct arena arena;
    struct query query;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(query_parse(STR("a=1&b=x%26y&&flag&a=2&c="), &arena, &query, &err));
    assert_int_equal(query.count, 5);
    assert_true(str_equal(query_get(&query, "a"), STR("2")));
    assert_true(str_equal(query_get(&query, "b"), STR("x&y")));
    assert_true(query_get(&query, "flag").at && query_get(&query, "flag").len == 0);
    assert_true(query_get(&query, "c").at && query_get(&query, "c").len == 0);
    assert_null(query_get(&query, "d").at);
    assert_true(query_parse(STR(""), &arena, &query, &err));
    assert_int_equal(query.count, 0);
    arena_free(&arena);
}

static void too_many_parameters_are_refused(void **state)
{
    (void)state;
    struct arena arena;
    struct query query;
    struct err err = {0};
    char text[2 * (QUERY_MAX_PARAMS + 1) + 1] = "";
    arena_init(&arena, NULL);
    for (size_t i = 0; i < QUERY_MAX_PARAMS; i++)
        memcpy(text + 2 * i, "a&", 3);
    assert_true(query_parse(str_of(text), &arena, &query, &err));
    memcpy(text + strlen(text), "a", 2);
    assert_false(query_parse(str_of(text), &arena, &query, &err));
    arena_free(&arena);
}

static void an_unknown_parameter_is_answered_with_the_known_ones(void **state)
{
    (void)state;
    static const char *const known[] = {"limit", "sort", NULL};
    struct query_param params[] = {{STR("limit"), STR("1")}, {STR("sotr"), STR("x")}};
    struct query query = {params, 2};
    struct err err = {0};
    assert_false(query_allow(&query, known, &err));
    assert_string_equal(err.msg, "found query parameter 'sotr', expected one of: limit, sort");
    query.count = 1;
    assert_true(query_allow(&query, known, &err));
}

static void integers_have_bounds_and_a_fallback(void **state)
{
    (void)state;
    struct query_param params[] = {{STR("n"), STR("7")}, {STR("bad"), STR("7x")}};
    struct query query = {params, 2};
    struct err err = {0};
    int64_t value = 0;
    assert_true(query_get_int(&query, (struct query_int){"n", 1, 0, 7}, &value, &err));
    assert_int_equal(value, 7);
    assert_true(query_get_int(&query, (struct query_int){"none", 3, 0, 7}, &value, &err));
    assert_int_equal(value, 3);
    assert_false(query_get_int(&query, (struct query_int){"n", 1, 0, 6}, &value, &err));
    assert_false(query_get_int(&query, (struct query_int){"bad", 1, 0, 9}, &value, &err));
}

static void numbers_have_bounds_and_a_fallback(void **state)
{
    (void)state;
    struct query_param params[] = {{STR("share"), STR("0.03")}, {STR("ns"), STR("1e5")}};
    struct query query = {params, 2};
    struct err err = {0};
    double value = 0;
    assert_true(query_get_number(&query, (struct query_number){"share", 1, 0, 1}, &value, &err));
    assert_true(value > 0.0299 && value < 0.0301);
    assert_true(query_get_number(&query, (struct query_number){"ns", 1, 0, 1e9}, &value, &err));
    assert_true(value > 99999 && value < 100001);
    assert_true(query_get_number(&query, (struct query_number){"none", 3, 0, 9}, &value, &err));
    assert_true(value > 2.9 && value < 3.1);
    assert_false(query_get_number(&query, (struct query_number){"ns", 1, 0, 1}, &value, &err));
    assert_string_equal(err.msg, "found ns=1e5, expected a number from 0 to 1");
    const char *const bad[] = {"", "nan", "inf", "0x1p3", "1e999", "1 ", " 1", "1,5", "--1", "3%"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        params[0].value = str_of(bad[i]);
        assert_false(
            query_get_number(&query, (struct query_number){"share", 0, -9, 9}, &value, &err));
    }
}

static void durations_have_units(void **state)
{
    (void)state;
    struct err err = {0};
    int64_t seconds = 0;
    assert_true(query_duration(STR("14d"), &seconds, &err) && seconds == 14 * 86400);
    assert_true(query_duration(STR("2h"), &seconds, &err) && seconds == 7200);
    assert_true(query_duration(STR("90"), &seconds, &err) && seconds == 90);
    const char *const bad[] = {"", "d", "-1d", "1.5h", "9223372036854775807d"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(query_duration(str_of(bad[i]), &seconds, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(parameters_are_split_and_the_last_of_a_name_wins),
        cmocka_unit_test(too_many_parameters_are_refused),
        cmocka_unit_test(an_unknown_parameter_is_answered_with_the_known_ones),
        cmocka_unit_test(integers_have_bounds_and_a_fallback),
        cmocka_unit_test(numbers_have_bounds_and_a_fallback),
        cmocka_unit_test(durations_have_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
