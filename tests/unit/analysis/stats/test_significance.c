// SPDX-License-Identifier: Apache-2.0
// Tests of rows: worked examples of Benjamini and Hochberg and of moderated t, and error rates.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analysis/stats/significance.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

// Benjamini and Hochberg 1995, section 4: thrombolysis, 15 p-values, of which 4 are rejected at 5
// %.
// The p-values of Benjamini and Hochberg's example. The tenth of their q-values is 0.486: below it
// Holm's factors 15, 14, 13, ... apply, from it on theirs.
static void few_rows_are_adjusted_by_holm_and_many_by_benjamini_and_hochberg(void **state)
{
    (void)state;
    double p[] = {0.3240, 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, NAN,    0.0278,
                  0.0298, 0.0344, 0.0459, 0.4262, 0.5719, 0.6528, 0.7590, 1};
    static const double q[] = {0.486,
                               0.0015,
                               0.0056,
                               0.0247,
                               0.114,
                               0.2211,
                               NAN,
                               0.278,
                               0.278,
                               0.278,
                               0.3213,
                               0.581181818181818,
                               0.714875,
                               0.753230769230769,
                               0.813214285714286,
                               1};
    struct err err = {0};
    assert_true(significance_adjust(p, 16, &err));
    for (size_t i = 0; i < 16; i++)
        if (i == 6)
            assert_true(isnan(p[i]));
        else
            assert_near(p[i], q[i], 1e-14);
    assert_true(significance_adjust(p, 0, &err));
    double few[] = {0.01, 0.04, 0.02}; // 3 x 0.01, 2 x 0.02, then no less than the one before
    assert_true(significance_adjust(few, 3, &err));
    assert_near(few[0], 0.03, 1e-14);
    assert_near(few[1], 0.04, 1e-14);
    assert_near(few[2], 0.04, 1e-14);
}

// limma's formulas (fitFDist, squeezeVar, eBayes) for these round times, where the variance of the
// six log variances is larger by its error, sqrt(2 / 5): the prior has 1.168 degrees, not 1.677.
static void moderated_t_is_that_of_limma_with_a_safer_prior(void **state)
{
    (void)state;
    static const double times[6][7] = {
        {1023136, 1007509, 1023077, 999952, 1012811, 991329, 1010025},
        {195270, 199533, 201300, 225446, 221850, 224234, 216202},
        {4965406, 5007639, 5095708, 5144023, 5139525, 5106654, 5093754},
        {29027, 35744, 31144, 31741, 31454, 29812, 30766},
        {689882, 703758, 690678, 713848, 689754, 695599, 712912},
        {97198, 108492, 99082, 91243, 94338, 93532, 93148},
    };
    static const double expected[6][5] = {
        // shift, p, q, ends of the interval
        {-0.0141348823343164, 0.11669221005609, 0.35007663016827, -0.0326665886763428,
         0.00475184548833605},
        {0.116866094180472, 0.000112960020041936, 0.000677760120251619, 0.082716278309091,
         0.152093025033323},
        {0.0195752882929421, 0.0431221915372926, 0.17248876614917, 0.000822814084411302,
         0.0386791286813729},
        {-0.0287901151999138, 0.569055804699366, 0.67638686034414, -0.136970689092155,
         0.0929508747984085},
        {0.011810352024621, 0.33819343017207, 0.67638686034414, -0.0156288068958717,
         0.0400143722571253},
        {-0.0829245703108845, 0.017699136899765, 0.0884956844988248, -0.141131921887613,
         -0.020772380331239},
    };
    struct row_test tests[6];
    struct err err = {0};
    assert_true(significance_rows(times[0], 6, 3, 4, tests, &err));
    for (size_t i = 0; i < 6; i++) {
        assert_true(tests[i].tested);
        assert_near(tests[i].shift_share, expected[i][0], 1e-12);
        assert_near(tests[i].p_value, expected[i][1], 1e-9);
        assert_near(tests[i].q_value, expected[i][2], 1e-9);
        assert_near(tests[i].low_share, expected[i][3], 1e-9);
        assert_near(tests[i].high_share, expected[i][4], 1e-9);
    }
}

// A single row cannot borrow from others: Student's t-test on logs. 10 and 20 % apart by hand.
static void a_lone_row_is_tested_by_plain_t(void **state)
{
    (void)state;
    const double logs[] = {1, 2, 3, 3, 4, 5}; // shift 2, variance 1, t = 2 / sqrt(2/3) = 2.449
    double times[6];
    for (size_t i = 0; i < 6; i++)
        times[i] = exp(logs[i]);
    struct row_test test;
    struct err err = {0};
    assert_true(significance_rows(times, 1, 3, 3, &test, &err));
    assert_near(test.p_value, 0.0704839969010, 1e-9); // R: 2 * pt(-sqrt(6), 4)
    assert_near(test.q_value, test.p_value, 0);
}

static void rows_that_cannot_be_tested_say_so(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
    double times[6][6];
    struct row_test tests[6];
    struct err err = {0};
    for (size_t i = 0; i < 36; i++)
        times[i / 6][i % 6] = 1e6 + (double)(i * i % 7) * 1e4;
    for (size_t i = 0; i < 5; i++)
        times[i + 1][i] = bad[i];
    assert_true(significance_rows(times[0], 6, 3, 3, tests, &err));
    assert_true(tests[0].tested && tests[0].q_value == tests[0].p_value);
    for (size_t i = 1; i < 6; i++) {
        assert_false(tests[i].tested);
        assert_true(isnan(tests[i].p_value) && isnan(tests[i].q_value) &&
                    isnan(tests[i].shift_share) && isnan(tests[i].low_share));
    }
    assert_true(significance_rows(times[0], 1, 2, 4, tests, &err)); // two runs of the base
    assert_true(!tests[0].tested && isfinite(tests[0].shift_share) && isnan(tests[0].p_value));
    assert_true(significance_rows(times[0], 0, 3, 3, tests, &err));
    assert_true(significance_rows(times[0], 1, 0, 3, tests, &err));
    assert_true(!tests[0].tested && isnan(tests[0].shift_share));
}

static void equal_and_extreme_times_give_finite_tests(void **state)
{
    (void)state;
    double times[4][6];
    for (size_t i = 0; i < 6; i++) {
        times[0][i] = 5e6;
        times[1][i] = i < 3 ? 5e6 : 6e6;
        times[2][i] = 1e18;
        times[3][i] = i < 3 ? 1 : 1e18;
    }
    struct row_test tests[4];
    struct err err = {0};
    assert_true(significance_rows(times[0], 4, 3, 3, tests, &err));
    for (size_t i = 0; i < 4; i++) {
        assert_true(tests[i].tested && isfinite(tests[i].low_share + tests[i].high_share));
        bool differs = i % 2 == 1;
        if (differs)
            assert_true(tests[i].q_value < 1e-6);
        else
            assert_true(tests[i].p_value == 1 && tests[i].q_value == 1);
    }
}

#define ROWS 200
#define RUNS 10

// Rows whose noise differs from row to row (0.3 to 3 %), the first few of them slower by 8 %.
static void fill_rows(struct noise *noise, size_t slower, double *times)
{
    for (size_t row = 0; row < ROWS; row++) {
        double deviation = 0.01 * exp(0.5 * noise_normal(noise));
        for (size_t run = 0; run < RUNS; run++) {
            double shift = row < slower && run >= RUNS / 2 ? 0.08 : 0;
            times[row * RUNS + run] = 1e6 * exp(shift + deviation * noise_normal(noise));
        }
    }
}

static void rows_of_equal_sides_are_rarely_reported(void **state)
{
    (void)state;
    static double times[ROWS * RUNS];
    static struct row_test tests[ROWS];
    struct noise noise = {11};
    struct err err = {0};
    int families = 0, below = 0, rounds = 400;
    for (int round = 0; round < rounds; round++) {
        fill_rows(&noise, 0, times);
        assert_true(significance_rows(times, ROWS, RUNS / 2, RUNS / 2, tests, &err));
        int reported = 0;
        for (size_t i = 0; i < ROWS; i++) {
            reported += tests[i].q_value <= 0.05;
            below += tests[i].p_value <= 0.05;
        }
        families += reported > 0;
    }
    assert_true(families <= rounds * 5 / 100 + 18); // 5 % and four deviations
    assert_near((double)below / (rounds * ROWS), 0.05, 0.005);
}

static void slower_rows_are_found_and_few_others(void **state)
{
    (void)state;
    static double times[ROWS * RUNS];
    static struct row_test tests[ROWS];
    struct noise noise = {12};
    struct err err = {0};
    double false_share = 0;
    int found = 0, rounds = 200, slower = 20, covered = 0;
    for (int round = 0; round < rounds; round++) {
        fill_rows(&noise, (size_t)slower, times);
        assert_true(significance_rows(times, ROWS, RUNS / 2, RUNS / 2, tests, &err));
        int right = 0, wrong = 0;
        for (int i = 0; i < ROWS; i++) {
            int reported = tests[i].q_value <= 0.05;
            double shift = i < slower ? expm1(0.08) : 0;
            right += i < slower ? reported : 0;
            wrong += i < slower ? 0 : reported;
            covered += tests[i].low_share <= shift && shift <= tests[i].high_share;
        }
        found += right;
        false_share += right + wrong ? (double)wrong / (right + wrong) : 0;
    }
    assert_true(false_share / rounds <= 0.055);
    assert_true(found >= rounds * slower * 9 / 10);
    assert_near((double)covered / (rounds * ROWS), 0.95, 0.006);
}

// 40 rows of 3 against 3 runs, exact except for noise shared by a run's rows: +0.5, -0.5, 0 and 1,
// -1, 0 %. Row 0 itself is 4 % slower. See CASES.md.
static void what_runs_share_is_no_change_of_rows(void **state)
{
    (void)state;
    static const double shared[] = {0.005, -0.005, 0, 0.01, -0.01, 0};
    double times[40][6];
    struct row_test tests[40];
    struct noise noise = {13};
    struct err err = {0};
    for (size_t row = 0; row < 40; row++)
        for (size_t run = 0; run < 6; run++)
            times[row][run] = 1e6 * exp(shared[run] + (row == 0 && run > 2 ? 0.04 : 0) +
                                        1e-5 * noise_normal(&noise));
    assert_true(significance_rows(times[0], 40, 3, 3, tests, &err));
    assert_true(tests[0].q_value <= 1e-6);
    for (size_t row = 1; row < 40; row++)
        assert_true(tests[row].q_value > 0.05);
    assert_near(tests[0].shift_share, expm1(0.04), 1e-4);
    for (size_t row = 0; row < 40; row++) // all rows 5 % slower: that is their own change
        for (size_t run = 3; run < 6; run++)
            times[row][run] *= 1.05;
    assert_true(significance_rows(times[0], 40, 3, 3, tests, &err));
    for (size_t row = 0; row < 40; row++)
        assert_true(tests[row].q_value <= 0.05);
}

// 1 % noise shared by a run's rows, none of them slower: 10.6 % had a false row before.
static void rows_that_share_noise_are_rarely_reported(void **state)
{
    (void)state;
    static double times[ROWS * RUNS];
    static struct row_test tests[ROWS];
    struct noise noise = {14};
    struct err err = {0};
    int families = 0, rounds = 100;
    for (int round = 0; round < rounds; round++) {
        double shared[RUNS];
        fill_rows(&noise, 0, times);
        for (size_t run = 0; run < RUNS; run++)
            shared[run] = exp(0.01 * noise_normal(&noise));
        for (size_t i = 0; i < ROWS * RUNS; i++)
            times[i] *= shared[i % RUNS];
        assert_true(significance_rows(times, ROWS, RUNS / 2, RUNS / 2, tests, &err));
        int reported = 0;
        for (size_t i = 0; i < ROWS; i++)
            reported += tests[i].q_value <= 0.05;
        families += reported > 0;
    }
    assert_true(families <= rounds * 5 / 100 + 9); // 5 % and four deviations
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_adjusted_by_holm_and_many_by_benjamini_and_hochberg),
        cmocka_unit_test(moderated_t_is_that_of_limma_with_a_safer_prior),
        cmocka_unit_test(a_lone_row_is_tested_by_plain_t),
        cmocka_unit_test(rows_that_cannot_be_tested_say_so),
        cmocka_unit_test(equal_and_extreme_times_give_finite_tests),
        cmocka_unit_test(rows_of_equal_sides_are_rarely_reported),
        cmocka_unit_test(slower_rows_are_found_and_few_others),
        cmocka_unit_test(what_runs_share_is_no_change_of_rows),
        cmocka_unit_test(rows_that_share_noise_are_rarely_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
