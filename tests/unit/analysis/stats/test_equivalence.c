// SPDX-License-Identifier: Apache-2.0
// The bound on a shift by hand, against full enumeration of the deals, and how often it is wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/stats/equivalence.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define SIDE(list) ((struct samples){list, sizeof(list) / sizeof *(list)})

static double bound_of(struct samples a, struct samples b, double alpha)
{
    struct err err = {0};
    double bound;
    if (!equivalence_bound(a, b, alpha, &bound, &err))
        fail_msg("%s", err.msg);
    return bound;
}

// Six deals. Differences of means: of one run each 0, 2, -1 and 1, of both 1 - 0.5 = 0.5.
static void bounds_of_two_runs_a_side_are_those_by_hand(void **state)
{
    (void)state;
    const double a[] = {0, 1}, b[] = {0, 2};
    assert_near(bound_of(SIDE(a), SIDE(b), 1.0 / 6), 2, 1e-12);
    assert_near(bound_of(SIDE(a), SIDE(b), 2.0 / 6), 1, 1e-12);
    assert_near(bound_of(SIDE(a), SIDE(b), 0.5), 0.5, 1e-12);
    assert_near(bound_of(SIDE(a), SIDE(b), 5.0 / 6), -1, 1e-12);
    assert_true(isinf(bound_of(SIDE(a), SIDE(b), 0.16)));
}

// CASES.md: 70 deals, 5 % of which are the third largest difference.
static void four_runs_a_side_are_bounded_by_the_third_largest_difference(void **state)
{
    (void)state;
    const double a[] = {0, 1, 2, 3}, b[] = {0.5, 1.5, 2.5, 3.5};
    // 3.5 - 0; then 2.5 - 0 and 3.5 - 1 and (2.5 + 3.5) / 2 - (0 + 1) / 2, all 2.5
    assert_near(bound_of(SIDE(a), SIDE(b), 1.0 / 70), 3.5, 1e-12);
    assert_near(bound_of(SIDE(a), SIDE(b), 0.05), 2.5, 1e-12);
    assert_near(bound_of(SIDE(a), SIDE(b), 4.0 / 70), 2.5, 1e-12);
    assert_true(bound_of(SIDE(a), SIDE(b), 5.0 / 70) < 2.5);
}

static size_t ones_in(unsigned bits)
{
    size_t ones = 0;
    for (; bits; bits &= bits - 1)
        ones++;
    return ones;
}

// Deals whose difference of means is at most the observed one.
static size_t deals_below(const double *values, size_t a_count, size_t count)
{
    size_t below = 0;
    double seen = 0;
    for (size_t i = a_count; i < count; i++)
        seen += values[i];
    for (unsigned deal = 0; deal < 1U << count; deal++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += deal >> i & 1 ? values[i] : 0;
        below += ones_in(deal) == count - a_count && sum <= seen + 1e-12;
    }
    return below;
}

static void shifts_above_the_bound_are_those_that_the_permutation_test_refuses(void **state)
{
    (void)state;
    struct noise noise = {31};
    static const size_t sides[][3] = {{4, 4, 70}, {3, 5, 56}, {5, 3, 56}, {2, 8, 45}, {5, 6, 462}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        double values[11], shifted[11];
        size_t a = sides[i][0], count = a + sides[i][1];
        for (size_t k = 0; k < count; k++)
            values[k] = noise_normal(&noise);
        double bound =
            bound_of((struct samples){values, a}, (struct samples){values + a, count - a}, 0.05);
        for (int side = -1; side <= 1; side += 2) {
            for (size_t k = 0; k < count; k++)
                shifted[k] = values[k] - (k < a ? 0 : bound + 1e-6 * side);
            double p = (double)deals_below(shifted, a, count) / (double)sides[i][2];
            assert_true(side > 0 ? p <= 0.05 : p > 0.05);
        }
    }
}

static void many_runs_are_bounded_by_the_rank_test(void **state)
{
    (void)state;
    double a[9], b[9];
    for (size_t i = 0; i < 9; i++) {
        a[i] = (double)i;
        b[i] = (double)i + 0.25;
    }
    struct shift shift;
    struct err err = {0};
    assert_true(mann_whitney_shift(SIDE(a), SIDE(b), 0.1, &shift, &err));
    assert_near(bound_of(SIDE(a), SIDE(b), 0.05), shift.high, 0);
    assert_true(isinf(bound_of((struct samples){a, 0}, SIDE(b), 0.05)));
    assert_true(isinf(bound_of((struct samples){a, 1}, SIDE(b), 0.05)));
}

#define ROUNDS 2000

// How often the bound is below a shift of zero.
static double rate_below(enum noise_kind kind, size_t a_count, size_t b_count)
{
    struct noise noise = {32};
    int below = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double values[10];
        for (size_t i = 0; i < a_count + b_count; i++)
            values[i] = noise_of_kind(&noise, kind);
        below += bound_of((struct samples){values, a_count},
                          (struct samples){values + a_count, b_count}, 0.05) < 0;
    }
    return (double)below / ROUNDS;
}

// 5 % and three deviations, whatever the noise and the counts.
static void the_bound_holds_under_every_noise(void **state)
{
    (void)state;
    double most = 0.05 + 3 * sqrt(0.05 * 0.95 / ROUNDS);
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++) {
        assert_true(rate_below(kind, 4, 4) <= most);
        assert_true(rate_below(kind, 3, 5) <= most);
        assert_true(rate_below(kind, 2, 8) <= most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_two_runs_a_side_are_those_by_hand),
        cmocka_unit_test(four_runs_a_side_are_bounded_by_the_third_largest_difference),
        cmocka_unit_test(shifts_above_the_bound_are_those_that_the_permutation_test_refuses),
        cmocka_unit_test(many_runs_are_bounded_by_the_rank_test),
        cmocka_unit_test(the_bound_holds_under_every_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
