// SPDX-License-Identifier: Apache-2.0
// The slope of a line and its interval: ranks by hand, ties, and how often the interval holds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/stats/theil_sen.h"
#include "tests/unit/near.h"

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 27;
}

static struct theil_sen fit(const int64_t *x, const int64_t *y, size_t count)
{
    struct budget budget = {0};
    struct err err = {0};
    struct theil_sen line;
    assert_true(theil_sen_make(x, y, count, &budget, &line, &err));
    assert_int_equal(budget.used, 0);
    return line;
}

static void slope_and_interval_are_those_of_sen(void **state)
{
    (void)state;
    const int64_t x[] = {0, 1, 2, 3, 4, 5};
    const int64_t y[] = {0, 1, 3, 7, 15, 31};
    // Slopes: 1 1.5 2 2.33 3 3.75 4 4.67 6 6.2 7.5 8 9.33 12 16. V = 6*5*17/18 = 28.33,
    // C = 10.43, (15 - 10.43) / 2 = 2.28: the second from either end.
    struct theil_sen line = fit(x, y, 6);
    assert_true(line.interval);
    assert_near(line.slope, 14.0 / 3, 1e-12);
    assert_near(line.low, 1.5, 1e-12);
    assert_near(line.high, 12, 1e-12);
}

static void equal_values_narrow_the_interval(void **state)
{
    (void)state;
    const int64_t x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const int64_t flat[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    struct theil_sen line = fit(x, flat, 10);
    assert_true(line.interval && line.slope == 0 && line.low == 0 && line.high == 0);
    // Nine at one level: V = (2250 - 9*8*23) / 18 = 33, C = 11.26: rank 16 of 45, after 9 below 0.
    const int64_t spike[] = {9, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    line = fit(x, spike, 10);
    assert_true(line.slope == 0 && line.low == 0 && line.high == 0);
    // Two levels of five: V = (2250 - 2*5*4*15) / 18 = 91.67, C = 18.77: rank 13 of 45 from either
    // end. 20 slopes are 0, and the 13th from above is 1000 / 25.
    const int64_t spread[] = {0, 1, 3, 6, 10, 15, 21, 28, 36, 45};
    const int64_t level[] = {0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000};
    line = fit(spread, level, 10);
    assert_near(line.slope, 1000.0 / 42, 1e-12);
    assert_true(line.low == 0);
    assert_near(line.high, 40, 1e-12);
}

static void few_points_have_no_interval_and_one_no_slope(void **state)
{
    (void)state;
    const int64_t x[] = {0, 1, 5, 6, 7}, y[] = {0, 3, 4, 4, 9};
    assert_true(isnan(fit(x, y, 1).slope));
    assert_near(fit(x, y, 2).slope, 3, 1e-12);
    assert_near(fit(x, y, 3).slope, 0.8, 1e-12);                  // of 0.25, 0.8 and 3
    assert_near(fit(x, y, 4).slope, (0.25 + 2.0 / 3) / 2, 1e-12); // of six, the middle two
    assert_false(fit(x, y, 4).interval);
    struct theil_sen line = fit(x, y, 5);
    assert_true(line.interval); // five points: from the smallest to the largest slope
    assert_near(line.low, 0, 1e-12);
    assert_near(line.high, 5, 1e-12);
}

// At most one in twenty random walks without a trend should have an interval that excludes 0.
static void the_interval_covers_what_it_promises(void **state)
{
    (void)state;
    for (size_t count = 5; count <= 40; count += 7) {
        uint64_t random = count;
        int missed = 0;
        for (int trial = 0; trial < 2000; trial++) {
            int64_t x[40], y[40];
            for (size_t i = 0; i < count; i++) {
                x[i] = (int64_t)(3 * i);
                y[i] = 21 * (int64_t)i + (int64_t)(next_random(&random) % 1000); // slope 7
            }
            struct theil_sen line = fit(x, y, count);
            missed += line.low > 7 || line.high < 7;
        }
        assert_in_range(missed, 5, 110); // 2,000 * 5 % plus some luck
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slope_and_interval_are_those_of_sen),
        cmocka_unit_test(equal_values_narrow_the_interval),
        cmocka_unit_test(few_points_have_no_interval_and_one_no_slope),
        cmocka_unit_test(the_interval_covers_what_it_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
