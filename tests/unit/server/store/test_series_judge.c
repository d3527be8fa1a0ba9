// SPDX-License-Identifier: Apache-2.0
// What stands out in a series: planted outliers and changes are reported once, noise is not, and
// alerts already stored are recognized.
#include "server/store/series_judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_POINTS = 64, MAX_ALERTS = 16 };

struct history {
    struct arena arena;
    struct series_point points[MAX_POINTS];
    struct series_alert alerts[MAX_ALERTS];
    struct series_state state;
    struct series_judgement judgement;
};

static int set_up(void **state)
{
    struct history *h = calloc(1, sizeof *h);
    arena_init(&h->arena, NULL);
    h->state = (struct series_state){.points = h->points, .alerts = h->alerts};
    *state = h;
    return 0;
}

static int tear_down(void **state)
{
    struct history *h = *state;
    arena_free(&h->arena);
    free(h);
    return 0;
}

static const double base_ns = 100e6;

// One percent of noise, always the same.
static double noise(size_t i)
{
    static const double shares[] = {0.000, 0.006,  -0.004, 0.009,  -0.007, 0.003, -0.009,
                                    0.005, -0.002, 0.008,  -0.006, 0.001,  0.007};
    return 1 + shares[i % (sizeof shares / sizeof *shares)];
}

static void run_on(struct history *h, const char *gpu, double share)
{
    size_t i = h->state.point_count++;
    assert_true(i < MAX_POINTS);
    h->points[i] = (struct series_point){.run_id = STR("r"),
                                         .gpu = str_of(gpu),
                                         .ranks = 8,
                                         .source = STR("trace"),
                                         .step_ns = base_ns * share * noise(i)};
}

// A run of which only a log is known.
static void run_logged(struct history *h, double share)
{
    run_on(h, "", share);
    h->points[h->state.point_count - 1].ranks = 0;
    h->points[h->state.point_count - 1].source = STR("log");
}

static void run(struct history *h, size_t count, double share)
{
    for (size_t i = 0; i < count; i++)
        run_on(h, "H100", share);
}

static void judge(struct history *h)
{
    struct err err = {0};
    if (!series_judge(&h->state, &h->arena, &h->judgement, &err))
        fail_msg("%s", err.msg);
}

static struct series_evidence pair_of(struct history *h, size_t a, size_t b)
{
    struct series_evidence evidence;
    struct err err = {0};
    if (!series_judge_pair(&h->state, a, b, &h->arena, &evidence, &err))
        fail_msg("%s", err.msg);
    return evidence;
}

// Stores what was judged, as the database would.
static void store(struct history *h)
{
    h->state.alert_count = 0;
    for (size_t i = 0; i < h->judgement.alert_count; i++)
        if (!h->judgement.alerts[i].dropped) {
            assert_true(h->state.alert_count < MAX_ALERTS);
            h->alerts[h->state.alert_count] = h->judgement.alerts[i];
            h->alerts[h->state.alert_count++].id = STR("a");
        }
}

static void judge_and_store(struct history *h)
{
    judge(h);
    store(h);
}

static void check_alert(const struct history *h, size_t i, size_t at, enum alert_kind kind,
                        enum alert_status status)
{
    assert_true(i < h->state.alert_count);
    assert_int_equal(h->alerts[i].at, at);
    assert_int_equal(h->alerts[i].kind, kind);
    assert_int_equal(h->alerts[i].status, status);
}

// --- single runs --------------------------------------------------------------------------------

static void noise_raises_no_alert(void **state)
{
    struct history *h = *state;
    run(h, 40, 1);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 0);
    assert_int_equal(h->judgement.change_count, 0);
    assert_true(fabs(h->judgement.change_share) < 0.02);
}

static void fewer_than_eight_runs_before_tell_nothing(void **state)
{
    struct history *h = *state;
    run(h, 7, 1);
    run(h, 1, 1.5);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 0);
}

static void a_run_beyond_the_fence_is_an_outlier(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.3);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 1);
    check_alert(h, 0, 12, ALERT_OUTLIER, ALERT_NEW);
    assert_int_equal(h->alerts[0].previous, 11);
    assert_true(fabs(h->alerts[0].before_ns / base_ns - 1) < 0.01);
    assert_true(h->points[12].outlier);
    assert_false(h->points[11].outlier);
}

static void an_outlier_is_fixed_once_the_step_is_back(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.3);
    judge_and_store(h);
    run(h, 1, 1);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 1);
    check_alert(h, 0, 12, ALERT_OUTLIER, ALERT_FIXED);
    assert_false(h->points[13].outlier);
}

static void a_faster_run_is_an_outlier_too(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 0.8);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 1);
    assert_true(h->alerts[0].after_ns < h->alerts[0].before_ns);
}

// --- levels -------------------------------------------------------------------------------------

static void a_planted_change_is_reported_once_as_its_runs_come(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    for (int i = 0; i < 10; i++) {
        run(h, 1, 1.1);
        judge_and_store(h);
        assert_int_equal(h->state.alert_count, 1);
        assert_int_equal(h->alerts[0].at, 12);
        assert_int_equal(h->alerts[0].status, ALERT_NEW);
    }
    check_alert(h, 0, 12, ALERT_CHANGE, ALERT_NEW);
    assert_true(fabs(h->alerts[0].after_ns / h->alerts[0].before_ns - 1.1) < 0.01);
    assert_int_equal(h->judgement.change_count, 1);
    assert_int_equal(h->judgement.changes[0].at, 12);
    assert_string_equal(h->judgement.changes[0].reason, "step_time");
}

static void a_slower_level_is_fixed_by_its_way_back_without_another_alert(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 8, 1.1);
    judge_and_store(h);
    for (int i = 0; i < 8; i++) {
        run(h, 1, 1);
        judge_and_store(h);
    }
    size_t open = 0;
    for (size_t i = 0; i < h->state.alert_count; i++)
        open += h->alerts[i].status == ALERT_NEW;
    assert_int_equal(open, 0);
    check_alert(h, 0, 12, ALERT_CHANGE, ALERT_FIXED);
    assert_int_equal(h->judgement.change_count, 2);
}

static void losing_what_was_faster_is_an_alert(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 8, 0.9);
    run(h, 8, 1);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 2);
    check_alert(h, 0, 12, ALERT_CHANGE, ALERT_FIXED);
    check_alert(h, 1, 20, ALERT_CHANGE, ALERT_NEW);
}

// --- what people decide -------------------------------------------------------------------------

static void decide(struct history *h, size_t alert, enum alert_status status)
{
    assert_true(alert < h->state.alert_count);
    h->alerts[alert].status = status;
    h->alerts[alert].handled = true;
}

static void what_was_called_noise_is_not_reported_again(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.1);
    judge_and_store(h);
    decide(h, 0, ALERT_NOISE);
    run(h, 8, 1);
    run(h, 1, 1.09);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 1);
    check_alert(h, 0, 12, ALERT_OUTLIER, ALERT_NOISE);
    run(h, 1, 1.4); // beyond that noise
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 2);
}

// Many runs are no stray one.
static void a_single_run_called_noise_hides_no_level(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.6);
    judge_and_store(h);
    decide(h, 0, ALERT_NOISE);
    for (int i = 0; i < 6; i++) {
        run(h, 1, 1.5);
        judge_and_store(h);
    }
    assert_int_equal(h->state.alert_count, 2);
    check_alert(h, 0, 12, ALERT_OUTLIER, ALERT_NOISE);
    check_alert(h, 1, 13, ALERT_CHANGE, ALERT_NEW); // the run's own mark stays
    assert_int_equal(h->alerts[1].previous, 11);
    assert_int_equal(h->judgement.change_count, 1);
}

static void a_level_called_noise_hides_such_levels_and_runs(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 6, 1.1);
    judge_and_store(h);
    check_alert(h, 0, 12, ALERT_CHANGE, ALERT_NEW);
    decide(h, 0, ALERT_NOISE);
    run(h, 8, 1);
    run(h, 1, 1.09);
    judge_and_store(h);
    assert_int_equal(h->judgement.change_count, 0);
    assert_false(h->points[26].outlier);
    assert_true(pair_of(h, 11, 26).fence_share > 0.1);
}

static void a_new_level_begins_with_what_was_expected(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.2);
    judge_and_store(h);
    decide(h, 0, ALERT_EXPECTED);
    run(h, 1, 1.2);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 1);
    assert_false(h->points[13].outlier);
    run(h, 1, 1); // away from the new level
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 2);
    check_alert(h, 1, 14, ALERT_OUTLIER, ALERT_NEW);
}

static void an_alert_that_holds_no_more_goes_unless_someone_decided(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.3);
    judge_and_store(h);
    h->points[12].step_ns = base_ns; // analyzed again
    judge(h);
    assert_true(h->judgement.alerts[0].dropped);
    decide(h, 0, ALERT_ACKNOWLEDGED);
    judge(h);
    assert_false(h->judgement.alerts[0].dropped);
    assert_int_equal(h->judgement.alerts[0].status, ALERT_ACKNOWLEDGED);
}

static void the_same_state_is_judged_alike(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 8, 1.1);
    run(h, 1, 1.6);
    judge_and_store(h);
    size_t count = h->state.alert_count;
    struct series_alert before[MAX_ALERTS];
    memcpy(before, h->alerts, sizeof before);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, count);
    for (size_t i = 0; i < count; i++)
        check_alert(h, i, before[i].at, before[i].kind, before[i].status);
}

// --- other hardware -----------------------------------------------------------------------------

static void runs_on_another_gpu_are_held_against_their_own_kind(void **state)
{
    struct history *h = *state;
    for (int i = 0; i < 24; i++) {
        bool other = i % 2;
        run_on(h, other ? "MI300X" : "H100", other ? 1.5 : 1);
    }
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 0);
    assert_int_equal(h->judgement.change_count, 1);
    assert_string_equal(h->judgement.changes[0].reason, "gpu");
    assert_int_equal(h->judgement.changes[0].at, 1);
    assert_true(isnan(h->judgement.changes[0].p_value));
    assert_true(fabs(h->judgement.change_share) < 0.02);
}

static void a_run_of_which_only_a_log_is_known_is_on_no_other_gpu(void **state)
{
    struct history *h = *state;
    run(h, 10, 1);
    run_logged(h, 1.3);
    run_on(h, "A100", 2);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 0);
    assert_int_equal(h->judgement.change_count, 1);
    assert_int_equal(h->judgement.changes[0].at, 11);
    assert_int_equal(h->judgement.changes[0].previous, 9);
    assert_string_equal(h->judgement.changes[0].reason, "gpu");
}

static void figures_from_another_source_are_not_compared(void **state)
{
    struct history *h = *state;
    run(h, 10, 1);
    run(h, 6, 1.4);
    for (size_t i = 10; i < 16; i++)
        h->points[i].source = STR("log");
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 0);
    assert_int_equal(h->judgement.change_count, 0);
    assert_false(pair_of(h, 9, 10).known);
}

static void each_point_has_the_first_one_of_its_level(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run_on(h, "A100", 2);
    run(h, 6, 1.1);
    run_on(h, "A100", 2);
    judge(h);
    assert_int_equal(h->points[11].level, 0);
    assert_int_equal(h->points[12].level, 12);
    assert_int_equal(h->points[13].level, 13);
    assert_int_equal(h->points[18].level, 13);
    assert_int_equal(h->points[19].level, 12);
}

// 80 us of a step of 1 ms.
static void small_changes_count_in_short_steps(void **state)
{
    struct history *h = *state;
    run(h, 20, 0.01);
    run(h, 10, 0.0108);
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 1);
    check_alert(h, 0, 20, ALERT_CHANGE, ALERT_NEW);
}

// "1.30" seconds, then "1.23": after the change of level, too, "1.24" is the next digit only.
static void the_last_printed_digit_is_no_outlier_on_any_level(void **state)
{
    struct history *h = *state;
    run(h, 25, 1);
    for (size_t i = 0; i < 25; i++)
        h->points[i].step_ns = i < 12 ? 1.3e9 : i < 24 ? 1.23e9 : 1.24e9;
    judge(h);
    assert_int_equal(h->judgement.change_count, 1);
    assert_int_equal(h->judgement.alert_count, 1);
    assert_true(!h->points[24].outlier);
}

static void a_series_without_points_says_nothing(void **state)
{
    struct history *h = *state;
    judge_and_store(h);
    assert_int_equal(h->state.alert_count, 0);
    assert_true(isnan(h->judgement.change_share));
    run(h, 1, 1);
    judge_and_store(h);
    assert_true(isnan(h->judgement.change_share));
}

// --- rates of error -----------------------------------------------------------------------------

// Normal with deviation one, from a seed.
static double normal(uint64_t *seed)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*seed >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

enum { SERIES = 60, RUNS = 60, CHANGE_AT = 40 };

// Fills a series with 1 % noise whose runs take share times as long from CHANGE_AT on.
static void fill(struct history *h, uint64_t *seed, double share)
{
    h->state.point_count = h->state.alert_count = 0;
    for (size_t i = 0; i < RUNS; i++)
        h->points[h->state.point_count++] = (struct series_point){
            .run_id = STR("r"),
            .gpu = STR("H100"),
            .ranks = 8,
            .step_ns = base_ns * (i < CHANGE_AT ? 1 : share) * exp(0.01 * normal(seed))};
    judge(h);
}

static void noise_of_one_percent_alerts_less_than_once_in_a_hundred_runs(void **state)
{
    struct history *h = *state;
    uint64_t seed = 1;
    size_t alerts = 0;
    for (int i = 0; i < SERIES; i++) {
        fill(h, &seed, 1);
        alerts += h->judgement.alert_count;
    }
    print_message("%zu alerts of %d runs that only had noise\n", alerts, SERIES * RUNS);
    assert_true(alerts * 100 < SERIES * RUNS);
}

static bool tells_change(const struct history *h)
{
    for (size_t i = 0; i < h->judgement.alert_count; i++) {
        const struct series_alert *alert = &h->judgement.alerts[i];
        if (alert->kind == ALERT_CHANGE && alert->at + 2 >= CHANGE_AT && alert->at <= CHANGE_AT + 2)
            return true;
    }
    return false;
}

static void nine_of_ten_changes_of_three_percent_are_found_at_their_place(void **state)
{
    struct history *h = *state;
    uint64_t seed = 2;
    int found = 0;
    for (int i = 0; i < SERIES; i++) {
        fill(h, &seed, 1.03);
        found += tells_change(h);
    }
    print_message("%d of %d changes of 3 %% found within two runs of their place\n", found, SERIES);
    assert_true(found * 10 >= SERIES * 9);
}

// --- two runs -----------------------------------------------------------------------------------

// Five runs and six 10 % slower: enough for a change of level, and for a fence that it does not
// move.
static void a_comparison_says_what_the_alert_says(void **state)
{
    struct history *h = *state;
    run(h, 5, 1);
    run(h, 6, 1.1);
    judge_and_store(h);
    check_alert(h, 0, 5, ALERT_CHANGE, ALERT_NEW);
    struct series_evidence evidence = pair_of(h, 4, 5);
    assert_true(evidence.known && evidence.changed && evidence.p_value <= 0.005);
    assert_true(evidence.fence_share < 0.1 && evidence.runs == 11);
    assert_true(pair_of(h, 8, 1).changed);
    assert_false(pair_of(h, 6, 9).changed);
    h->alerts[0].status = ALERT_NOISE;
    assert_false(pair_of(h, 4, 5).changed);
}

// No level is confirmed by three runs after five: the difference is known to be beyond noise only
// by what the others differ by.
static void eight_runs_of_a_series_tell_the_noise_of_any_two(void **state)
{
    struct history *h = *state;
    run(h, 5, 1);
    run(h, 2, 1.5);
    judge_and_store(h);
    assert_true(isnan(pair_of(h, 4, 5).fence_share)); // seven are too few
    run(h, 1, 1.5);
    judge_and_store(h);
    struct series_evidence evidence = pair_of(h, 4, 5);
    assert_true(evidence.known && !evidence.changed && evidence.runs == 8);
    assert_true(evidence.fence_share > 0 && evidence.fence_share < 0.2);
    assert_true(pair_of(h, 0, 1).fence_share == evidence.fence_share);
}

static void outliers_differ_from_their_neighbors(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.5);
    run(h, 3, 1);
    judge_and_store(h);
    check_alert(h, 0, 12, ALERT_OUTLIER, ALERT_FIXED);
    struct series_evidence evidence = pair_of(h, 11, 12);
    assert_true(evidence.changed && isnan(evidence.p_value) && evidence.runs == 12);
    assert_true(evidence.fence_share > 0.01 && evidence.fence_share < 0.1);
    assert_true(pair_of(h, 12, 14).changed && !pair_of(h, 11, 14).changed);
    run_on(h, "A100", 1);
    assert_false(pair_of(h, 11, 16).known);
}

// A level 3 % slower, and two runs that are by chance the other way round.
static void a_level_says_nothing_of_runs_that_do_not_show_it(void **state)
{
    struct history *h = *state;
    run(h, 20, 1);
    run(h, 20, 1.05);
    h->points[15].step_ns = 1.028 * base_ns;
    h->points[27].step_ns = 1.025 * base_ns;
    judge_and_store(h);
    assert_int_equal(h->judgement.change_count, 1);
    struct series_evidence evidence = pair_of(h, 15, 27);
    assert_true(evidence.known && !evidence.changed && isnan(evidence.p_value));
    assert_false(pair_of(h, 14, 27).changed); // less than half of it
    assert_true(pair_of(h, 14, 26).changed && pair_of(h, 26, 14).p_value < 0.005);
}

static void an_outlier_says_nothing_of_a_run_that_is_near_it(void **state)
{
    struct history *h = *state;
    run(h, 20, 1);
    h->points[14].step_ns = 1.06 * base_ns;
    h->points[18].step_ns = 1.03 * base_ns;
    judge_and_store(h);
    assert_true(h->points[14].outlier && !h->points[18].outlier);
    struct series_evidence evidence = pair_of(h, 14, 18);
    assert_true(!evidence.changed && evidence.fence_share > 0.03);
    assert_true(pair_of(h, 14, 17).changed);
}

// Its difference is usual of that run, not of others.
static void a_run_called_noise_is_noise_in_its_own_comparisons_only(void **state)
{
    struct history *h = *state;
    run(h, 12, 1);
    run(h, 1, 1.6);
    judge_and_store(h);
    decide(h, 0, ALERT_NOISE);
    run(h, 7, 1);
    judge_and_store(h);
    struct series_evidence evidence = pair_of(h, 11, 12);
    assert_true(!evidence.changed && evidence.fence_share > 0.6);
    assert_true(pair_of(h, 12, 18).fence_share > 0.6);
    assert_true(pair_of(h, 11, 18).fence_share < 0.1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(noise_raises_no_alert),
        CASE(fewer_than_eight_runs_before_tell_nothing),
        CASE(a_run_beyond_the_fence_is_an_outlier),
        CASE(an_outlier_is_fixed_once_the_step_is_back),
        CASE(a_faster_run_is_an_outlier_too),
        CASE(a_planted_change_is_reported_once_as_its_runs_come),
        CASE(a_slower_level_is_fixed_by_its_way_back_without_another_alert),
        CASE(losing_what_was_faster_is_an_alert),
        CASE(what_was_called_noise_is_not_reported_again),
        CASE(a_single_run_called_noise_hides_no_level),
        CASE(a_level_called_noise_hides_such_levels_and_runs),
        CASE(a_new_level_begins_with_what_was_expected),
        CASE(an_alert_that_holds_no_more_goes_unless_someone_decided),
        CASE(the_same_state_is_judged_alike),
        CASE(runs_on_another_gpu_are_held_against_their_own_kind),
        CASE(a_run_of_which_only_a_log_is_known_is_on_no_other_gpu),
        CASE(figures_from_another_source_are_not_compared),
        CASE(each_point_has_the_first_one_of_its_level),
        CASE(small_changes_count_in_short_steps),
        CASE(the_last_printed_digit_is_no_outlier_on_any_level),
        CASE(a_series_without_points_says_nothing),
        CASE(noise_of_one_percent_alerts_less_than_once_in_a_hundred_runs),
        CASE(nine_of_ten_changes_of_three_percent_are_found_at_their_place),
        CASE(a_comparison_says_what_the_alert_says),
        CASE(eight_runs_of_a_series_tell_the_noise_of_any_two),
        CASE(outliers_differ_from_their_neighbors),
        CASE(a_level_says_nothing_of_runs_that_do_not_show_it),
        CASE(an_outlier_says_nothing_of_a_run_that_is_near_it),
        CASE(a_run_called_noise_is_noise_in_its_own_comparisons_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
