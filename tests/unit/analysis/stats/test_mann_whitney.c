// SPDX-License-Identifier: Apache-2.0
// The rank test against published tables, worked examples and full enumeration.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/stats/mann_whitney.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define SIDE(list) ((struct samples){list, sizeof(list) / sizeof *(list)})

static double p_of(struct samples a, struct samples b)
{
    struct err err = {0};
    double p, swapped;
    assert_true(mann_whitney_test(a, b, &p, &err));
    assert_true(mann_whitney_test(b, a, &swapped, &err));
    assert_near(p, swapped, 1e-12);
    return p;
}

static struct shift shift_of(struct samples a, struct samples b, double alpha)
{
    struct err err = {0};
    struct shift shift;
    assert_true(mann_whitney_shift(a, b, alpha, &shift, &err));
    return shift;
}

// Two samples of m and n values without ties with the given U: b's smallest value exceeds u of a's.
static double p_of_u(size_t m, size_t n, size_t u)
{
    double a[10], b[10];
    for (size_t i = 0; i < m; i++)
        a[i] = (double)i;
    size_t whole = u / m, rest = u % m; // this many of b are above all of a, and one above some
    for (size_t i = 0; i < n; i++)
        b[i] = i < whole ? 100 + (double)i : -100 - (double)i;
    if (rest)
        b[n - 1] = (double)rest - 0.5;
    return p_of((struct samples){a, m}, (struct samples){b, n});
}

// Mann and Whitney 1947, as in every textbook: the largest U that is significant at 5 % two-sided.
static void critical_values_are_those_of_the_table(void **state)
{
    (void)state;
    static const int table[9][9] = {
        {-1, -1, -1, -1, -1, -1, 0, 0, 0}, {-1, -1, -1, 0, 1, 1, 2, 2, 3},
        {-1, -1, 0, 1, 2, 3, 4, 4, 5},     {-1, 0, 1, 2, 3, 5, 6, 7, 8},
        {-1, 1, 2, 3, 5, 6, 8, 10, 11},    {-1, 1, 3, 5, 6, 8, 10, 12, 14},
        {0, 2, 4, 6, 8, 10, 13, 15, 17},   {0, 2, 4, 7, 10, 12, 15, 17, 20},
        {0, 3, 5, 8, 11, 14, 17, 20, 23},
    };
    for (size_t m = 2; m <= 10; m++)
        for (size_t n = 2; n <= 10; n++) {
            int critical = table[m - 2][n - 2];
            if (critical >= 0)
                assert_true(p_of_u(m, n, (size_t)critical) <= 0.05);
            assert_true(p_of_u(m, n, (size_t)(critical + 1)) > 0.05);
        }
}

static void least_p_is_that_of_sides_wholly_apart(void **state)
{
    (void)state;
    assert_near(mann_whitney_least_p(4, 4), 2.0 / 70, 1e-15);
    assert_near(mann_whitney_least_p(3, 5), 2.0 / 56, 1e-15);
    assert_near(mann_whitney_least_p(8, 2), 2.0 / 45, 1e-15);
    assert_true(mann_whitney_least_p(1, 1) == 1 && mann_whitney_least_p(0, 9) == 1);
    for (size_t m = 2; m <= 10; m++)
        assert_near(p_of_u(m, 5, 0), mann_whitney_least_p(m, 5), 1e-12);
}

// Hollander and Wolfe 1973, page 69: permeability of the chorioamnion; figures of R's wilcox.test.
static void worked_example_has_its_p_shift_and_interval(void **state)
{
    (void)state;
    static const double term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    assert_near(p_of(SIDE(term), SIDE(early)), 0.254412254412254, 1e-12);
    struct shift shift = shift_of(SIDE(term), SIDE(early), 0.05);
    assert_true(shift.has_interval);
    assert_near(shift.median, -0.305, 1e-12);
    assert_near(shift.low, -0.76, 1e-12);
    assert_near(shift.high, 0.15, 1e-12);
    shift = shift_of(SIDE(term), SIDE(early), 0.2);
    assert_near(shift.low, -0.7, 1e-12);
    assert_near(shift.high, 0.05, 1e-12);
}

static void ties_are_dealt_with_exactly(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 4, 4};
    static const double c[] = {1, 1, 1, 2, 3}, d[] = {2, 3, 3, 3, 4, 5};
    static const double e[] = {1, 2, 2}, f[] = {2, 2, 3, 3, 3, 3, 9};
    static const double g[] = {5, 5, 5, 5}, h[] = {5, 5, 5, 6};
    assert_near(p_of(SIDE(a), SIDE(b)), 0.2, 1e-12);
    assert_near(p_of(SIDE(c), SIDE(d)), 0.038961038961039, 1e-12);
    assert_near(p_of(SIDE(e), SIDE(f)), 0.1, 1e-12);
    assert_near(p_of(SIDE(g), SIDE(h)), 1, 1e-12);
    assert_near(p_of(SIDE(g), SIDE(g)), 1, 1e-12);
}

// Twice the rank sum of the chosen values, counted pair by pair.
static int doubled_sum(const double *values, unsigned count, unsigned chosen)
{
    int sum = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; chosen >> i & 1 && j < count; j++)
            sum += values[j] < values[i] ? 2 : values[j] == values[i] ? 1 : 0;
    return sum;
}

static double enumerated_p(const double *values, unsigned count, unsigned first)
{
    unsigned all = 0, below = 0, above = 0;
    int seen = doubled_sum(values, count, (1u << first) - 1);
    for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
        if ((unsigned)__builtin_popcount(chosen) != first)
            continue;
        int sum = doubled_sum(values, count, chosen);
        all++;
        below += sum <= seen;
        above += sum >= seen;
    }
    return fmin(1, 2.0 * (below < above ? below : above) / all);
}

static void p_values_are_those_of_all_ways_to_deal(void **state)
{
    (void)state;
    struct noise noise = {1};
    for (int round = 0; round < 60; round++) {
        double values[9];
        for (size_t i = 0; i < 9; i++)
            values[i] = floor(noise_uniform(&noise) * (round % 6 + 2));
        size_t first = 1 + (size_t)round % 8;
        double p =
            p_of((struct samples){values, first}, (struct samples){values + first, 9 - first});
        assert_near(p, enumerated_p(values, 9, (unsigned)first), 1e-12);
    }
}

// 40 and 60 values with ties, and 60 and 70 without: figures of R's wilcox.test.
static void many_values_are_judged_by_the_normal_distribution(void **state)
{
    (void)state;
    double a[60], b[70];
    for (size_t i = 0; i < 60; i++)
        a[i] = pow((double)(i + 1), 1.1);
    for (size_t i = 0; i < 70; i++)
        b[i] = (double)(i + 1) * 1.3 + 0.05;
    assert_near(p_of(SIDE(a), SIDE(b)), 0.602561055560834, 1e-12);
    static const double c[] = {-6.3, 1.8, -8.4, 16,    3.3,   -8.2, 4.9,  7.4,   5.8,  -3.1,
                               15.1, 3.9, -6.2, -22.1, 11.2,  -0.4, -0.2, 9.4,   8.2,  5.9,
                               9.2,  7.8, 0.7,  -19.9, 6.2,   -0.6, -1.6, -14.7, -4.8, 4.2,
                               13.6, -1,  3.9,  -0.5,  -13.8, -4.1, -3.9, -0.6,  11,   7.6};
    static const double d[] = {
        1.4,  0.5,  10,   8.6,  -3.9, -4.1, 6.6,  10.7, 1.9, 11.8, 7,    -3.1, 6.4,  -8.3,  17.3,
        22.8, -0.7, -7.4, 8.7,  1.6,  27,   2.6,  9.9,  3.3, -4.4, 4.9,  -15,  17.7, 4.5,   24.7,
        7.8,  -4.1, 9.1,  -6.3, -9.5, 5.9,  -1.4, 3,    3.7, -2.9, -2.7, 1.6,  14.8, -12.2, 8.9,
        6.3,  13.6, 0,    6.7,  5.7,  -2.4, 15.1, 14.6, 10,  18.9, 8.6,  -9.8, -2.7, -9.2,  -1.7};
    assert_near(p_of(SIDE(c), SIDE(d)), 0.178965226863051, 1e-12);
}

static void exact_and_normal_meet_where_one_takes_over(void **state)
{
    (void)state;
    double a[36], b[36];
    struct noise noise = {5};
    for (size_t i = 0; i < 36; i++) {
        a[i] = noise_normal(&noise);
        b[i] = noise_normal(&noise) + 0.5;
    }
    for (size_t n = 33; n <= 36; n++) { // exact up to 35 on each side
        struct samples x = {a, n}, y = {b, n};
        double u = 0;
        for (size_t i = 0; i < n * n; i++)
            u += b[i / n] > a[i % n];
        double size = (double)n;
        double z = (u - size * size / 2 - 0.5) / sqrt(size * size * (2 * size + 1) / 12);
        assert_near(p_of(x, y), erfc(fabs(z) / sqrt(2)), 1e-3);
    }
}

static void intervals_need_enough_values(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8.5};
    struct shift shift = shift_of(SIDE(a), SIDE(b), 0.05);
    assert_true(shift.has_interval);
    assert_near(shift.median, 4, 0);
    assert_near(shift.low, 1, 0); // 16 differences, from the smallest to the largest
    assert_near(shift.high, 7.5, 0);
    shift = shift_of((struct samples){a, 3}, (struct samples){b, 3}, 0.05);
    assert_true(!shift.has_interval && isnan(shift.low) && shift.median == 4);
    shift = shift_of((struct samples){a, 0}, SIDE(b), 0.05);
    assert_true(!shift.has_interval && isnan(shift.median));
    assert_true(p_of((struct samples){a, 0}, SIDE(b)) == 1);
    assert_true(p_of((struct samples){a, 1}, (struct samples){b, 1}) == 1);
}

// An interval leaves 0 out exactly when the test is significant (no ties).
static void intervals_agree_with_the_test(void **state)
{
    (void)state;
    struct noise noise = {3};
    for (int round = 0; round < 500; round++) {
        size_t m = 4 + noise_bits(&noise) % 5, n = 4 + noise_bits(&noise) % 5;
        double a[8], b[8];
        for (size_t i = 0; i < 8; i++) {
            a[i] = noise_normal(&noise);
            b[i] = noise_normal(&noise) + 1;
        }
        struct samples x = {a, m}, y = {b, n};
        struct shift shift = shift_of(x, y, 0.05);
        assert_true(shift.has_interval);
        assert_true(shift.low <= shift.median && shift.median <= shift.high);
        assert_int_equal(p_of(x, y) <= 0.05, shift.low > 0 || shift.high < 0);
    }
}

static void intervals_cover_as_often_as_promised(void **state)
{
    (void)state;
    struct noise noise = {4};
    int covered = 0, rounds = 2000;
    for (int round = 0; round < rounds; round++) {
        double a[5], b[6];
        for (size_t i = 0; i < 5; i++)
            a[i] = noise_normal(&noise);
        for (size_t i = 0; i < 6; i++)
            b[i] = noise_normal(&noise) + 2;
        struct shift shift = shift_of(SIDE(a), SIDE(b), 0.05);
        covered += shift.low <= 2 && 2 <= shift.high;
    }
    // Exactly 1 - 2 * 7/462 = 96.97 %: U < 4 in 7 of 462 ways; four deviations of 2,000 rounds.
    assert_near((double)covered / rounds, 1 - 14.0 / 462, 0.016);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(critical_values_are_those_of_the_table),
        cmocka_unit_test(least_p_is_that_of_sides_wholly_apart),
        cmocka_unit_test(worked_example_has_its_p_shift_and_interval),
        cmocka_unit_test(ties_are_dealt_with_exactly),
        cmocka_unit_test(p_values_are_those_of_all_ways_to_deal),
        cmocka_unit_test(many_values_are_judged_by_the_normal_distribution),
        cmocka_unit_test(exact_and_normal_meet_where_one_takes_over),
        cmocka_unit_test(intervals_need_enough_values),
        cmocka_unit_test(intervals_agree_with_the_test),
        cmocka_unit_test(intervals_cover_as_often_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
