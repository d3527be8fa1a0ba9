// SPDX-License-Identifier: Apache-2.0
// Order statistics are samples that occurred, and intervals are the same on every run.
#include "analysis/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void the_median_of_an_even_count_is_the_lower_one_in_the_middle(void **state)
{
    (void)state;
    const int64_t values[] = {10, 20, 30, 40};
    assert_int_equal(stats_median(values, 4), 20);
    assert_int_equal(stats_median(values, 3), 20);
    assert_int_equal(stats_median(values, 1), 10);
    assert_int_equal(stats_median(values, 0), 0);
}

static void percentiles_go_by_nearest_rank(void **state)
{
    (void)state;
    int64_t values[100];
    for (int i = 0; i < 100; i++)
        values[i] = i + 1;
    assert_int_equal(stats_percentile(values, 100, 95), 95);
    assert_int_equal(stats_percentile(values, 100, 99), 99);
    assert_int_equal(stats_percentile(values, 20, 95), 19);
    assert_int_equal(stats_percentile(values, 19, 95), 19); // 18.05 is rounded up
    assert_int_equal(stats_percentile(values, 1, 99), 1);
}

static void the_deviation_is_that_of_a_sample(void **state)
{
    (void)state;
    const int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9}; // squares about the mean of 5 sum to 32
    struct stats stats = stats_of(values, 8);
    assert_int_equal(stats.count, 8);
    assert_true(stats.mean == 5);
    assert_true(fabs(stats.stddev - sqrt(32.0 / 7)) < 1e-12);
    assert_true(isnan(stats_of(values, 1).stddev));
    assert_int_equal(stats_of(NULL, 0).max, 0);
}

static void fewer_than_five_samples_have_no_interval(void **state)
{
    (void)state;
    const int64_t values[] = {1, 2, 3, 4};
    struct budget budget = {0};
    struct interval interval;
    struct err err;
    assert_true(stats_interval(values, 4, &budget, &interval, &err));
    assert_false(interval.known);
    assert_non_null(interval.note);
}

static void the_interval_encloses_the_median_and_repeats(void **state)
{
    (void)state;
    int64_t values[600];
    struct budget budget = {0};
    struct interval first, second;
    struct err err;
    for (int i = 0; i < 600; i++)
        values[i] = 1000 + i;
    const size_t counts[] = {5, 20, 500, 600};
    for (size_t c = 0; c < 4; c++) {
        assert_true(stats_interval(values, counts[c], &budget, &first, &err));
        assert_true(stats_interval(values, counts[c], &budget, &second, &err));
        assert_true(first.known);
        assert_true(first.low < stats_median(values, counts[c]));
        assert_true(first.high > stats_median(values, counts[c]));
        assert_int_equal(first.low, second.low);
        assert_int_equal(first.high, second.high);
    }
    assert_int_equal(budget.used, 0);
}

static void the_bootstrap_agrees_with_the_binomial_interval(void **state)
{
    (void)state;
    int64_t values[400];
    for (int i = 0; i < 400; i++)
        values[i] = i;
    struct budget budget = {0};
    struct interval interval;
    struct err err;
    assert_true(stats_interval(values, 400, &budget, &interval, &err));
    // The rank of the median deviates by sqrt(400) / 2 = 10; 1.96 times that is 19.6.
    assert_in_range(interval.low, 199 - 23, 199 - 16);
    assert_in_range(interval.high, 199 + 16, 199 + 23);
}

static void equal_samples_have_an_interval_of_no_width(void **state)
{
    (void)state;
    const int64_t values[] = {7, 7, 7, 7, 7, 7};
    struct budget budget = {0};
    struct interval interval;
    struct err err;
    assert_true(stats_interval(values, 6, &budget, &interval, &err));
    assert_int_equal(interval.low, 7);
    assert_int_equal(interval.high, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_of_an_even_count_is_the_lower_one_in_the_middle),
        cmocka_unit_test(percentiles_go_by_nearest_rank),
        cmocka_unit_test(the_deviation_is_that_of_a_sample),
        cmocka_unit_test(fewer_than_five_samples_have_no_interval),
        cmocka_unit_test(the_interval_encloses_the_median_and_repeats),
        cmocka_unit_test(the_bootstrap_agrees_with_the_binomial_interval),
        cmocka_unit_test(equal_samples_have_an_interval_of_no_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
