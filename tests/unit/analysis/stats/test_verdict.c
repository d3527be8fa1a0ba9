// SPDX-License-Identifier: Apache-2.0
// Verdicts and gates: each rule by hand, and their error rates under 1 % noise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analysis/stats/verdict.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define SIDE(list) ((struct samples){list, sizeof(list) / sizeof *(list)})

static const struct samples none = {NULL, 0};
static const struct verdict_history nothing = {0};

static struct judgement judge(struct samples base, struct samples cand, struct samples history)
{
    struct verdict_limits limits = verdict_default_limits();
    struct judgement judgement;
    struct err err = {0};
    const struct verdict_history known = {.runs = history};
    if (!verdict_judge(base, cand, &known, &limits, &judgement, &err))
        fail_msg("%s", err.msg);
    return judgement;
}

static void assert_verdict(const struct judgement *judgement, const char *method,
                           const char *verdict)
{
    assert_string_equal(judgement->method, method);
    assert_string_equal(verdict_word(judgement->verdict), verdict);
}

static void one_run_a_side_leaves_the_noise_unknown(void **state)
{
    (void)state;
    const double base[] = {100e6}, cand[] = {110e6};
    struct judgement judgement = judge(SIDE(base), SIDE(cand), none);
    assert_verdict(&judgement, "none", "noise unknown");
    assert_near(judgement.shift_share, 0.1, 1e-12);
    assert_near(judgement.shift_ns, 10e6, 1e-3);
    assert_near(judgement.relevant_from_ns, 2e5, 0);
    assert_true(!judgement.relevant && !judgement.has_interval && isnan(judgement.p_value) &&
                isnan(judgement.low_share) && isnan(judgement.threshold_share));
    assert_int_equal(judgement.base_missing, 3);
    assert_int_equal(judgement.cand_missing, 3);
    assert_int_equal(verdict_gate(&judgement, 0.03), GATE_UNDECIDED);
}

static void missing_runs_are_those_that_allow_the_exact_test(void **state)
{
    (void)state;
    static const double runs[] = {10e6, 11e6, 12e6, 13e6, 14e6, 15e6, 16e6, 17e6};
    static const size_t rows[][4] = {{3, 3, 1, 1}, {2, 5, 1, 0}, {1, 8, 1, 0}, {4, 1, 0, 3},
                                     {3, 5, 0, 0}, {2, 8, 0, 0}, {4, 4, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct judgement judgement =
            judge((struct samples){runs, rows[i][0]}, (struct samples){runs, rows[i][1]}, none);
        assert_int_equal(judgement.base_missing, rows[i][2]);
        assert_int_equal(judgement.cand_missing, rows[i][3]);
    }
}

static void four_runs_a_side_are_judged_exactly(void **state)
{
    (void)state;
    const double base[] = {100e6, 101e6, 99e6, 100e6}, cand[] = {104e6, 105e6, 103e6, 104e6};
    struct judgement judgement = judge(SIDE(base), SIDE(cand), none);
    assert_verdict(&judgement, "mann_whitney", "significant");
    assert_near(judgement.p_value, 2.0 / 70, 1e-12);
    assert_near(judgement.shift_share, 0.04, 1e-12); // 104/100 in the middle of 16 ratios
    assert_near(judgement.low_share, 103.0 / 101 - 1, 1e-12);
    assert_near(judgement.high_share, 105.0 / 99 - 1, 1e-12);
    assert_true(judgement.relevant && judgement.has_interval);
    struct judgement back = judge(SIDE(cand), SIDE(base), none);
    assert_near((1 + judgement.shift_share) * (1 + back.shift_share), 1, 1e-12);
    assert_near((1 + judgement.low_share) * (1 + back.high_share), 1, 1e-12);
}

static void significant_changes_below_the_limits_are_not_relevant(void **state)
{
    (void)state;
    const double base[] = {100e6, 100.001e6, 100.002e6, 100.003e6};
    const double cand[] = {100.1e6, 100.101e6, 100.102e6, 100.103e6}; // 0.1 %
    struct judgement judgement = judge(SIDE(base), SIDE(cand), none);
    assert_true(judgement.verdict == VERDICT_SIGNIFICANT && !judgement.relevant);
    const double other[] = {20e6, 20.001e6, 20.002e6, 20.003e6};
    const double more[] = {20.09e6, 20.091e6, 20.092e6, 20.093e6}; // 0.45 %, but 0.09 ms
    judgement = judge(SIDE(other), SIDE(more), none);
    assert_true(judgement.verdict == VERDICT_SIGNIFICANT && !judgement.relevant);
    assert_near(judgement.relevant_from_ns, 1e5, 0);
    assert_int_equal(verdict_gate(&judgement, 0.003), GATE_FAIL); // a gate of 0.3 % was requested
}

static void short_steps_have_small_changes(void **state)
{
    (void)state;
    double base[4], slower[4], less[4];
    for (size_t i = 0; i < 4; i++) {
        base[i] = 1e6 + (double)i;
        slower[i] = 1.02e6 + (double)i; // 20 us
        less[i] = 1.009e6 + (double)i;
    }
    struct judgement judgement = judge(SIDE(base), SIDE(slower), none);
    assert_true(judgement.verdict == VERDICT_SIGNIFICANT && judgement.relevant);
    assert_near(judgement.relevant_from_ns, 1e4, 1);
    judgement = judge(SIDE(base), SIDE(less), none);
    assert_true(judgement.verdict == VERDICT_SIGNIFICANT && !judgement.relevant);
}

static void equal_times_differ_by_nothing(void **state)
{
    (void)state;
    const double side[] = {100e6, 107e6, 93e6}, turned[] = {93e6, 100e6, 107e6};
    for (size_t count = 1; count <= 3; count += 2) {
        struct judgement judgement =
            judge((struct samples){side, count}, (struct samples){side, count}, none);
        assert_verdict(&judgement, "equal", "within noise");
        assert_true(judgement.shift_ns == 0 && judgement.low_share == 0 &&
                    judgement.high_share == 0 && judgement.p_value == 1 && !judgement.relevant);
        assert_int_equal(verdict_gate(&judgement, 0), GATE_PASS);
        assert_int_equal(verdict_gate(&judgement, -0.01), GATE_FAIL);
    }
    struct judgement judgement = judge(SIDE(side), SIDE(turned), none);
    assert_verdict(&judgement, "equal", "within noise");
}

// Neighbors differ by 1 % seven times: Q1 = Q3, so the fence is 1 % itself.
static void history_judges_single_runs(void **state)
{
    (void)state;
    const double history[] = {100e6, 101e6, 100e6, 101e6, 100e6, 101e6, 100e6, 101e6};
    const double base[] = {100e6}, usual[] = {100.9e6}, slower[] = {104e6};
    struct judgement judgement = judge(SIDE(base), SIDE(usual), SIDE(history));
    assert_verdict(&judgement, "history", "within noise");
    assert_near(judgement.threshold_share, 0.01, 1e-12);
    assert_int_equal(verdict_gate(&judgement, 0.03), GATE_PASS); // 0.9 % and 1 % of noise
    assert_int_equal(verdict_gate(&judgement, 0.015), GATE_UNDECIDED);
    judgement = judge(SIDE(base), SIDE(slower), SIDE(history));
    assert_verdict(&judgement, "history", "significant");
    assert_near(judgement.low_share, 1.04 / 1.01 - 1, 1e-12);
    assert_near(judgement.high_share, 1.04 * 1.01 - 1, 1e-12);
    assert_true(judgement.relevant && isnan(judgement.p_value));
    assert_int_equal(verdict_gate(&judgement, 0.03), GATE_FAIL);
    judgement = judge(SIDE(base), SIDE(slower), (struct samples){history, 7});
    assert_verdict(&judgement, "none", "noise unknown");
}

// The series is better evidence than two runs: an alert and the comparison it links to agree.
static void single_runs_of_a_series_are_judged_as_its_alerts(void **state)
{
    (void)state;
    const double base[] = {100e6}, slower[] = {104e6};
    struct verdict_limits limits = verdict_default_limits();
    struct verdict_history history = {
        .series = {.known = true, .changed = true, .p_value = 0.004, .fence_share = NAN}};
    struct judgement judgement;
    struct err err = {0};
    assert_true(verdict_judge(SIDE(base), SIDE(slower), &history, &limits, &judgement, &err));
    assert_verdict(&judgement, "series", "significant");
    assert_true(judgement.relevant && !judgement.has_interval && judgement.p_value == 0.004);
    assert_int_equal(verdict_gate(&judgement, 0.03), GATE_FAIL);
    history.series.fence_share = 0.05;
    assert_true(verdict_judge(SIDE(base), SIDE(slower), &history, &limits, &judgement, &err));
    assert_near(judgement.low_share, 1.04 / 1.05 - 1, 1e-12);
    history.series.changed = false; // within the spread of its runs
    assert_true(verdict_judge(SIDE(base), SIDE(slower), &history, &limits, &judgement, &err));
    assert_verdict(&judgement, "history", "within noise");
}

// Differences 1 2 3 4 5 6 7 %: halves 1 2 3 and 5 6 7, Q1 = 2, Q3 = 6, fence 6 + 3 * 4 = 18 %.
static void fence_is_that_of_the_quartiles_of_differences(void **state)
{
    (void)state;
    double step_ns[12] = {1e8}, holes[12];
    const double percent[] = {3, -1, 7, -2, 5, 4, -6};
    for (size_t i = 0; i < 7; i++)
        step_ns[i + 1] = step_ns[i] * exp(percent[i] / 100);
    assert_near(history_fence(step_ns, 8), expm1(0.18), 1e-12);
    assert_true(isnan(history_fence(step_ns, 7)) && isnan(history_fence(NULL, 0)));
    const double bad[] = {0, NAN, -1, INFINITY};
    for (size_t i = 0; i < 12; i++)
        holes[i] = i % 3 == 1 ? bad[i / 3] : step_ns[i - (i + 1) / 3];
    assert_near(history_fence(holes, 12), expm1(0.18), 1e-12);
    double flat[300];
    for (size_t i = 0; i < 300; i++)
        flat[i] = i < 44 ? (double)(1 + i % 2) * 1e8 : 123456789;
    assert_true(history_fence(flat, 300) == HISTORY_LEAST_SHARE); // the newest 256
}

// "1.23" seconds, twelve times: the next may be printed as 1.22 or 1.24 without a change.
static void fence_is_at_least_one_unit_of_the_last_printed_digit(void **state)
{
    (void)state;
    double step_ns[12], shares[12];
    for (size_t i = 0; i < 12; i++) {
        step_ns[i] = 1.23e9;
        shares[i] = 1 / 0.45;
    }
    double fence = history_fence(step_ns, 12);
    assert_true(fence >= 1.24 / 1.23 - 1 && fence >= 1.23 / 1.22 - 1 && fence < 0.0083);
    for (size_t i = 0; i < 12; i++)
        step_ns[i] = 1e8; // "100.0" ms, rather than a hundred
    assert_true(history_fence(step_ns, 12) < 0.002);
    assert_true(history_fence(shares, 12) == HISTORY_LEAST_SHARE); // not in whole units
}

static void values_that_are_no_times_are_left_out(void **state)
{
    (void)state;
    const double base[] = {0, 100e6, NAN, -5, INFINITY}, cand[] = {NAN, 0}, good[] = {1e18, 1};
    struct judgement judgement = judge(SIDE(base), SIDE(cand), none);
    assert_verdict(&judgement, "none", "noise unknown");
    assert_int_equal(judgement.base_runs, 1);
    assert_int_equal(judgement.cand_runs, 0);
    assert_true(judgement.base_ns == 100e6 && isnan(judgement.cand_ns) &&
                isnan(judgement.shift_ns) && !judgement.relevant);
    assert_int_equal(verdict_gate(&judgement, 0.03), GATE_UNDECIDED);
    judgement = judge(none, none, none);
    assert_true(isnan(judgement.base_ns) && isnan(judgement.relevant_from_ns));
    judgement = judge(SIDE(good), SIDE(base), none);
    assert_true(isfinite(judgement.shift_ns) && isfinite(judgement.base_ns));
}

static void limits_out_of_range_are_refused(void **state)
{
    (void)state;
    const double one[] = {1e8};
    const struct verdict_limits bad[] = {
        {0, 0.002, 1e5},       {-1, 0.002, 1e5}, {0.6, 0.002, 1e5},  {NAN, 0.002, 1e5},
        {0.05, -0.1, 1e5},     {0.05, NAN, 1e5}, {0.05, 0.002, -1},  {0.05, 0.002, NAN},
        {0.05, INFINITY, 1e5}, {INFINITY, 0, 0}, {0.05, 0, INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct judgement judgement;
        struct err err = {0};
        assert_false(verdict_judge(SIDE(one), SIDE(one), &nothing, &bad[i], &judgement, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_non_null(strstr(err.msg, "expected"));
    }
    static const double many[VERDICT_MAX_RUNS + 1];
    struct verdict_limits limits = verdict_default_limits();
    struct judgement judgement;
    struct err err = {0};
    assert_false(verdict_judge(SIDE(one), SIDE(many), &nothing, &limits, &judgement, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    limits.alpha = 5e-324; // no counts ever reach it
    assert_true(verdict_judge(SIDE(one), SIDE(one), &nothing, &limits, &judgement, &err));
}

static void gate_weighs_bound_and_interval_against_the_limit(void **state)
{
    (void)state;
    static const struct {
        double low, shift, high, bound, limit;
        enum verdict verdict;
        enum gate gate;
    } rows[] = {
        {-0.01, 0.00, 0.01, 0.01, 0.03, VERDICT_NOISE, GATE_PASS},
        {-0.02, 0.00, 0.04, 0.03, 0.03, VERDICT_NOISE, GATE_PASS}, // only the bound is within
        {-0.01, 0.02, 0.05, 0.04, 0.03, VERDICT_NOISE, GATE_UNDECIDED},
        {-0.01, 0.04, 0.05, 0.02, 0.03, VERDICT_NOISE, GATE_UNDECIDED}, // but not the estimate
        {0.01, 0.02, 0.03, 0.03, 0.03, VERDICT_SIGNIFICANT, GATE_PASS},
        {0.01, 0.02, 0.04, 0.04, 0.03, VERDICT_SIGNIFICANT, GATE_UNDECIDED},
        {0.02, 0.04, 0.05, 0.05, 0.03, VERDICT_SIGNIFICANT, GATE_FAIL},
        {-0.09, -0.08, -0.07, -0.07, 0.03, VERDICT_SIGNIFICANT, GATE_PASS},
        {-0.04, -0.03, -0.02, -0.02, -0.05, VERDICT_SIGNIFICANT, GATE_FAIL}, // must be 5 % faster
        {-0.01, 0.04, 0.09, 0.08, NAN, VERDICT_SIGNIFICANT, GATE_UNDECIDED},
        {-0.01, 0.00, 0.01, NAN, 0.03, VERDICT_NOISE, GATE_UNDECIDED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct judgement judgement = {.verdict = rows[i].verdict,
                                      .has_interval = true,
                                      .low_share = rows[i].low,
                                      .shift_share = rows[i].shift,
                                      .high_share = rows[i].high,
                                      .bound_share = rows[i].bound};
        assert_string_equal(verdict_gate_word(verdict_gate(&judgement, rows[i].limit)),
                            verdict_gate_word(rows[i].gate));
    }
}

// CASES.md: the largest of 16 ratios is 1.035, so the interval extends beyond 3 %; the third
// largest difference of means of the 69 does not.
static void four_runs_a_side_pass_by_their_bound(void **state)
{
    (void)state;
    const double base[] = {99e6, 100e6, 100e6, 101e6}, cand[] = {99.5e6, 100e6, 101e6, 102.465e6};
    struct judgement judgement = judge(SIDE(base), SIDE(cand), none);
    assert_verdict(&judgement, "mann_whitney", "within noise");
    assert_near(judgement.high_share, 0.035, 1e-12);
    // sqrt(102.465 x 101 / (99 x 100)), before it 1.035 and 1.02465 twice
    assert_near(judgement.bound_share, 0.02465, 1e-12);
    assert_int_equal(verdict_gate(&judgement, 0.03), GATE_PASS);
    assert_int_equal(verdict_gate(&judgement, 0.02), GATE_UNDECIDED);
}

// --- rates of error -----------------------------------------------------------------------------

#define ROUNDS 500

// Five percent plus three deviations of a count over that many rounds.
#define FIVE_PERCENT (0.05 + 3 * sqrt(0.05 * 0.95 / ROUNDS))

struct rates {
    double significant, relevant, gates[3]; // shares of all rounds; gates at 3 %
};

static struct rates rates_of(enum noise_kind kind, double shift, size_t runs, size_t history)
{
    struct noise noise = {100 + (uint64_t)kind};
    struct rates rates = {0};
    double base[8], cand[8], past[32];
    int rounds = ROUNDS;
    for (int round = 0; round < rounds; round++) {
        noise_fill(&noise, kind, 0, past, history);
        noise_fill(&noise, kind, 0, base, runs);
        noise_fill(&noise, kind, shift, cand, runs);
        struct judgement judgement =
            judge((struct samples){base, runs}, (struct samples){cand, runs},
                  (struct samples){past, history});
        rates.significant += (judgement.verdict == VERDICT_SIGNIFICANT) / (double)rounds;
        rates.relevant += judgement.relevant / (double)rounds;
        rates.gates[verdict_gate(&judgement, 0.03)] += 1 / (double)rounds;
    }
    return rates;
}

static void false_alarms_stay_below_five_percent(void **state)
{
    (void)state;
    static const size_t sides[][2] = {{4, 0}, {5, 0}, {8, 0}, {1, 8}, {1, 32}, {3, 8}};
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++)
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
            assert_true(rates_of(kind, 0, sides[i][0], sides[i][1]).significant <= FIVE_PERCENT);
}

// 67 % with 5 runs a side, 94 % with 8; analysis/COMPARE.md has the table.
static void two_percent_slower_is_found_more_often_than_not(void **state)
{
    (void)state;
    struct rates rates = rates_of(NOISE_NORMAL, 0.02, 5, 0);
    assert_true(rates.relevant > 0.60 && rates.relevant == rates.significant);
    assert_true(rates_of(NOISE_NORMAL, 0.02, 8, 0).relevant > 0.91);
    assert_true(rates_of(NOISE_NORMAL, 0.03, 5, 0).relevant > 0.90);
}

static void gate_at_three_percent_errs_rarely(void **state)
{
    (void)state;
    struct rates same = rates_of(NOISE_NORMAL, 0, 5, 0);
    assert_true(same.gates[GATE_FAIL] < 0.005 && same.gates[GATE_PASS] > 0.9);
    struct rates worse = rates_of(NOISE_NORMAL, 0.05, 5, 0);
    assert_true(worse.gates[GATE_FAIL] > 0.98 && worse.gates[GATE_PASS] < 0.005);
}

// 3.4 % of unchanged sides are undecided, 18 % by the whole interval; see analysis/COMPARE.md.
static void four_runs_a_side_mostly_decide_a_gate(void **state)
{
    (void)state;
    struct rates same = rates_of(NOISE_NORMAL, 0, 4, 0);
    assert_true(same.gates[GATE_UNDECIDED] <= FIVE_PERCENT && same.gates[GATE_FAIL] < 0.005);
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++)
        assert_true(rates_of(kind, 0.03, 4, 0).gates[GATE_PASS] <= FIVE_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_run_a_side_leaves_the_noise_unknown),
        cmocka_unit_test(missing_runs_are_those_that_allow_the_exact_test),
        cmocka_unit_test(four_runs_a_side_are_judged_exactly),
        cmocka_unit_test(significant_changes_below_the_limits_are_not_relevant),
        cmocka_unit_test(short_steps_have_small_changes),
        cmocka_unit_test(equal_times_differ_by_nothing),
        cmocka_unit_test(history_judges_single_runs),
        cmocka_unit_test(single_runs_of_a_series_are_judged_as_its_alerts),
        cmocka_unit_test(fence_is_that_of_the_quartiles_of_differences),
        cmocka_unit_test(fence_is_at_least_one_unit_of_the_last_printed_digit),
        cmocka_unit_test(values_that_are_no_times_are_left_out),
        cmocka_unit_test(limits_out_of_range_are_refused),
        cmocka_unit_test(gate_weighs_bound_and_interval_against_the_limit),
        cmocka_unit_test(four_runs_a_side_pass_by_their_bound),
        cmocka_unit_test(false_alarms_stay_below_five_percent),
        cmocka_unit_test(two_percent_slower_is_found_more_often_than_not),
        cmocka_unit_test(gate_at_three_percent_errs_rarely),
        cmocka_unit_test(four_runs_a_side_mostly_decide_a_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
