// SPDX-License-Identifier: Apache-2.0
// Times are readable from nanoseconds to minutes, without exponents.
#include "analysis/stats/time_text.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void times_have_three_digits_and_no_exponent(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0.000 ms"},
        {7, "0.007 us"},
        {1760, "1.76 us"},
        {99999, "100 us"},
        {100000, "0.100 ms"},
        {999499, "0.999 ms"},
        {999999, "1.00 ms"},
        {3598388, "3.60 ms"},
        {9999999, "10.0 ms"},
        {19134000, "19.1 ms"},
        {164830000, "165 ms"},
        {1234567890, "1,235 ms"},
        {9999000000, "9,999 ms"},
        {10000000000, "10.0 s"},
        {137069000000, "137 s"},
        {600000000000, "10.0 min"},
        {-1234567890123456, "-20,576 min"},
        {-2500000, "-2.50 ms"},
        {INT64_MIN, "-153,722,867 min"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(time_text(cases[i].ns).text, cases[i].text);
}

static void a_pair_has_one_unit_where_that_is_short(void **state)
{
    (void)state;
    assert_string_equal(time_text_beside(558000, 20100).text, "558 us");
    assert_string_equal(time_text_beside(20100, 558000).text, "20.1 us");
    assert_string_equal(time_text_beside(1500000, 2560).text, "1,500 us");
    assert_string_equal(time_text_beside(43900000, 2560).text, "43.9 ms");
    assert_string_equal(time_text_beside(12000000000, 9000000000).text, "12.0 s");
    assert_string_equal(time_text_beside(0, 2560).text, "0.000 us");
}

static void counts_have_commas_between_thousands(void **state)
{
    (void)state;
    assert_string_equal(count_text(0).text, "0");
    assert_string_equal(count_text(999).text, "999");
    assert_string_equal(count_text(3928).text, "3,928");
    assert_string_equal(count_text(-1234567).text, "-1,234,567");
    assert_string_equal(count_text(INT64_MIN).text, "-9,223,372,036,854,775,808");
    assert_string_equal(mean_text(12.5, 1).text, "12.5");
    assert_string_equal(mean_text(1234.5678, 1).text, "1,234.6");
    assert_string_equal(mean_text(8030261248.0, 0).text, "8,030,261,248");
    assert_string_equal(mean_text(1e300, 0).text, "1,000,000,000,000,000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_has_one_unit_where_that_is_short),
        cmocka_unit_test(counts_have_commas_between_thousands),
        cmocka_unit_test(times_have_three_digits_and_no_exponent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
