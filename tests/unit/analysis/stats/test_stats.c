// SPDX-License-Identifier: Apache-2.0
// Order statistics are values from the sample, and intervals are the same on every run.
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>
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
    struct interval interval = stats_interval(4);
    assert_false(interval.known);
    assert_string_equal(interval.note, "fewer than 5 steps: no interval");
    assert_int_equal(stats_interval(5).low, 0);
    assert_int_equal(stats_interval(5).high, 4);
    assert_non_null(strstr(stats_interval(5).note, "93.8 %"));
}

// The chance that the median of any continuous distribution lies between two of its samples: that
// of more than `low` and at most `high` of them below it, each with one half. By logarithms of
// factorials, unlike the code under test.
static double coverage(size_t count, size_t low, size_t high)
{
    double sum = 0;
    for (size_t below = low + 1; below <= high; below++)
        sum += exp(lgamma((double)count + 1) - lgamma((double)below + 1) -
                   lgamma((double)(count - below) + 1) - (double)count * log(2));
    return sum;
}

static void the_interval_is_the_narrowest_that_covers_95_percent(void **state)
{
    (void)state;
    for (size_t count = 6; count < 3000; count += count < 70 ? 1 : 97) {
        struct interval interval = stats_interval(count);
        assert_true(interval.known);
        assert_int_equal(interval.low + interval.high, count - 1);
        assert_true(coverage(count, interval.low, interval.high) >= 0.95 - 1e-4);
        assert_true(coverage(count, interval.low + 1, interval.high - 1) < 0.95 + 1e-4);
    }
    assert_int_equal(stats_interval(6).low, 0);
    assert_int_equal(stats_interval(7).high, 6);
    assert_int_equal(stats_interval(9).low, 1);
    assert_int_equal(stats_interval(10).high, 8);
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
        cmocka_unit_test(the_interval_is_the_narrowest_that_covers_95_percent),
        cmocka_unit_test(quantiles_need_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
