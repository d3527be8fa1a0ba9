// SPDX-License-Identifier: Apache-2.0
// Steps on the device, and which of them count.
#include "tests/unit/hand_trace.h"

#include "analysis/step_marks.h"
#include "analysis/steps.h"

#include <stdio.h>

// Writes '+' for each steady step and '-' for each other one.
static void choose(const int64_t *durations, uint32_t count, int warmup, char *signs)
{
    struct step steps[16] = {{0}};
    struct budget budget = {0};
    struct err err;
    for (uint32_t s = 0; s < count; s++)
        steps[s].end_ns = durations[s];
    assert_true(steps_choose(steps, count, warmup, &budget, &err));
    for (uint32_t s = 0; s < count; s++) {
        signs[s] = steps[s].steady ? '+' : '-';
        assert_true(steps[s].steady == !steps[s].reason);
    }
    signs[count] = 0;
    assert_int_equal(budget.used, 0);
}

static void with_fewer_than_three_steps_nothing_is_left_out(void **state)
{
    (void)state;
    const int64_t durations[] = {900, 100};
    char signs[17];
    choose(durations, 2, -1, signs);
    assert_string_equal(signs, "++");
    choose(durations, 1, -1, signs);
    assert_string_equal(signs, "+");
}

static void the_first_step_and_leading_outliers_are_warm_up(void **state)
{
    (void)state;
    // Median of the others is 1000; they deviate by nothing, so that 3 % is the reach.
    const int64_t durations[] = {1000, 1031, 1030, 2000, 1000, 1000, 1000, 1000};
    char signs[17];
    choose(durations, 8, -1, signs);
    assert_string_equal(signs, "--++++++");
}

static void the_reach_follows_the_median_deviation(void **state)
{
    (void)state;
    // Others: median 1000, deviations 200 100 0 100 200, median 100; reach 444.
    const int64_t durations[] = {5000, 1200, 900, 1000, 1100, 800};
    char signs[17];
    choose(durations, 6, -1, signs);
    assert_string_equal(signs, "-+++++");
}

static void one_step_always_stays(void **state)
{
    (void)state;
    const int64_t durations[] = {10, 5000, 1000, 200};
    char signs[17];
    choose(durations, 4, 99, signs);
    assert_string_equal(signs, "---+");
    choose(durations, 4, 0, signs);
    assert_string_equal(signs, "++++");
    choose(durations, 4, 2, signs);
    assert_string_equal(signs, "--++");
}

static void add_mark(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                       .name = name,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .pid = 1,
                                       .row = 1});
}

// A kernel launched at launch_ns on thread 2.
static void add_pair(struct hand *hand, int64_t launch_ns, int64_t begin_ns, int64_t dur_ns,
                     int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = launch_ns,
                                       .dur_ns = 1,
                                       .pid = 1,
                                       .row = 2,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .row = 7,
                                       .correlation = correlation});
}

static void a_step_runs_from_its_first_event_to_the_next_steps_first(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#8", 100, 100);
    add_mark(&hand, "ProfilerStep#7", 0, 100);
    add_mark(&hand, "ProfilerStep#9", 200, 100); // launches nothing
    hand_kernel(&hand, "before", 8, 0, 40);      // unlaunched
    add_pair(&hand, 10, 50, 10, 1);
    add_pair(&hand, 99, 130, 30, 2); // runs on while step 8 has begun
    add_pair(&hand, 100, 140, 10, 3);
    add_pair(&hand, 150, 180, 20, 4);
    hand_kernel(&hand, "beside", 8, 145, 5); // unlaunched, within step 8
    hand_facts(&hand);
    const struct facts *facts = &hand.facts;
    assert_true(facts->marked);
    assert_int_equal(facts->step_count, 3);
    assert_int_equal(facts->steps[0].number, 7);
    assert_int_equal(facts->steps[0].begin_ns, 50);
    assert_int_equal(facts->steps[0].end_ns, 140);
    assert_int_equal(facts->steps[1].end_ns, 200);
    assert_int_equal(facts->steady_count, 2);
    assert_string_equal(facts->steps[2].reason, "no device event was launched in it");
    const uint32_t expected[] = {FACTS_NONE, 0, 0, 1, 1, 1}; // by begin
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(facts->devices[i].step, expected[i]);
    assert_int_equal(parts_window_ns(&facts->step_parts[0]), 90);
    assert_int_equal(parts_window_ns(&facts->steady), 150);
    hand_end(&hand);
}

static void without_marks_the_window_is_one_step(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "k", 7, 100, 50);
    hand_kernel(&hand, "k", 7, 200, 50);
    hand_facts(&hand);
    assert_false(hand.facts.marked);
    assert_int_equal(hand.facts.step_count, 1);
    assert_int_equal(hand.facts.steady_count, 1);
    assert_int_equal(parts_window_ns(&hand.facts.steady), 150);
    hand_end(&hand);
}

static void the_users_pattern_goes_before_profiler_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.step_pattern = "train_*";
    add_mark(&hand, "ProfilerStep#1", 0, 400);
    add_mark(&hand, "train_a", 0, 100);
    add_mark(&hand, "train_b", 100, 100);
    add_pair(&hand, 10, 50, 10, 1);
    add_pair(&hand, 110, 150, 10, 2);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 2);
    assert_string_equal(trace_text(hand.trace, hand.facts.steps[1].name).at, "train_b");
    assert_int_equal(hand.facts.steps[1].number, 1);
    hand_end(&hand);
}

static void optimizer_marks_leave_the_last_step_open(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 3; i++) {
        add_mark(&hand, "Optimizer.step#AdamW.step", 100 * i, 10);
        add_pair(&hand, 100 * i + 50, 100 * i + 60, 10, i + 1); // behind the mark's own end
    }
    add_pair(&hand, 205, 210, 5, 9);
    hand_facts(&hand);
    assert_int_equal(hand.facts.step_count, 3);
    assert_int_equal(hand.facts.steps[0].begin_ns, 60);
    assert_int_equal(hand.facts.steps[0].end_ns, 160);
    assert_string_equal(hand.facts.steps[2].reason, "its mark has no end");
    assert_int_equal(hand.facts.steady_count, 2);
    hand_end(&hand);
}

static void a_repeated_annotation_at_the_top_of_a_thread_marks_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 4; i++) {
        add_mark(&hand, "iteration", 100 * i, 95);
        add_mark(&hand, "forward", 100 * i, 40); // inside
        add_pair(&hand, 100 * i + 20, 100 * i + 30, 10, i + 1);
    }
    hand_facts(&hand);
    assert_true(hand.facts.marked);
    assert_int_equal(hand.facts.step_count, 4);
    assert_string_equal(trace_text(hand.trace, hand.facts.steps[0].name).at, "iteration");
    hand_end(&hand);
}

static void patterns_are_whole_names_or_beginnings(void **state)
{
    (void)state;
    assert_true(step_marks_fit(STR("step"), STR("step")));
    assert_false(step_marks_fit(STR("step"), STR("step 1")));
    assert_true(step_marks_fit(STR("step*"), STR("step 1")));
    assert_true(step_marks_fit(STR("*"), STR("")));
    assert_int_equal(step_marks_number(STR("ProfilerStep#12"), 3), 12);
    assert_int_equal(step_marks_number(STR("Optimizer.step#AdamW"), 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_fewer_than_three_steps_nothing_is_left_out),
        cmocka_unit_test(the_first_step_and_leading_outliers_are_warm_up),
        cmocka_unit_test(the_reach_follows_the_median_deviation),
        cmocka_unit_test(one_step_always_stays),
        cmocka_unit_test(a_step_runs_from_its_first_event_to_the_next_steps_first),
        cmocka_unit_test(without_marks_the_window_is_one_step),
        cmocka_unit_test(the_users_pattern_goes_before_profiler_steps),
        cmocka_unit_test(optimizer_marks_leave_the_last_step_open),
        cmocka_unit_test(a_repeated_annotation_at_the_top_of_a_thread_marks_steps),
        cmocka_unit_test(patterns_are_whole_names_or_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
