// SPDX-License-Identifier: Apache-2.0
// Order statistics are values from the sample, and intervals are the same on every run.
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

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
    struct budget budget = {0};
    struct interval interval;
    struct err err;
    assert_true(stats_interval(4, &budget, &interval, &err));
    assert_false(interval.known);
    assert_non_null(interval.note);
}

static void the_interval_encloses_the_median_and_repeats(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct interval first, second;
    struct err err;
    const size_t counts[] = {5, 20, 500, 600};
    for (size_t c = 0; c < 4; c++) {
        assert_true(stats_interval(counts[c], &budget, &first, &err));
        assert_true(stats_interval(counts[c], &budget, &second, &err));
        assert_true(first.known);
        assert_true(first.low < (counts[c] - 1) / 2);
        assert_true(first.high > (counts[c] - 1) / 2);
        assert_true(first.high < counts[c]);
        assert_int_equal(first.low, second.low);
        assert_int_equal(first.high, second.high);
    }
    assert_int_equal(budget.used, 0);
}

static void the_bootstrap_agrees_with_the_binomial_interval(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct interval interval;
    struct err err;
    assert_true(stats_interval(400, &budget, &interval, &err));
    // The rank of the median has deviation sqrt(400) / 2 = 10; 1.96 times that is 19.6.
    assert_in_range(interval.low, 199 - 23, 199 - 16);
    assert_in_range(interval.high, 199 + 16, 199 + 23);
}

// splitmix64
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

enum { MOST_VALUES = 3000 };

static void compare_quantiles(size_t count, unsigned bits, uint64_t *seed)
{
    static int64_t values[MOST_VALUES], sorted[MOST_VALUES], scratch[MOST_VALUES];
    for (size_t i = 0; i < count; i++) {
        uint64_t drawn = next_random(seed);
        values[i] = (int64_t)(bits ? drawn >> (64 - bits) : 5);
        if (drawn % 101 == 0) // outliers crowd the others into one bucket
            values[i] = INT64_MIN + (int64_t)(drawn % 3);
        sorted[i] = values[i];
    }
    sort_i64(sorted, scratch, count);
    struct quantiles found = stats_quantiles(values, scratch, count);
    assert_true(found.min == (count ? sorted[0] : 0));
    assert_true(found.median == stats_median(sorted, count));
    assert_true(found.p95 == stats_percentile(sorted, count, 95));
    assert_true(found.max == (count ? sorted[count - 1] : 0));
}

static void quantiles_need_no_order(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (size_t count = 0; count < MOST_VALUES; count += count < 70 ? 1 : 97)
        for (unsigned bits = 0; bits <= 64; bits += 8)
            compare_quantiles(count, bits, &seed);
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
        cmocka_unit_test(quantiles_need_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
