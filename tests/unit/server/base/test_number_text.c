// SPDX-License-Identifier: Apache-2.0
// Numbers with their units, as people read them.
#include "server/base/number_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void numbers_have_a_unit_that_fits_their_size(void **state)
{
    static const struct {
        double number;
        const char *unit, *text;
    } cases[] = {
        {28670000, "ns", "28.67 ms"}, {1.076e9, "ns", "1,076 ms"},
        {218200, "ns", "0.2182 ms"},  {90000, "ns", "90.00 µs"},
        {401, "ns", "401 ns"},        {12.5e9, "ns", "12.50 s"},
        {900e9, "ns", "15.00 min"},   {6.87e10, "bytes", "68.70 GB"},
        {0.4123, "share", "41.2 %"},  {11250, "1/s", "11,250"},
        {123456.7, "1/s", "123,457"}, {412.34, "TFLOP/s", "412.3 TFLOP/s"},
        {2.3456789, "", "2.346"},     {-1234567, "count", "-1,234,567"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        number_text_add(cases[i].number, cases[i].unit, &text);
        assert_string_equal(text.at, cases[i].text);
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_a_unit_that_fits_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
