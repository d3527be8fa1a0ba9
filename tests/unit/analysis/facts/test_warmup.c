// SPDX-License-Identifier: Apache-2.0
// Which steps are steady, by their durations.
#include "analysis/facts/steps.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

// Writes '+' for each steady step and '-' for every other one.
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

static void of_two_steps_the_first_is_warm_up(void **state)
{
    (void)state;
    const int64_t durations[] = {900, 100};
    char signs[17];
    choose(durations, 2, -1, signs);
    assert_string_equal(signs, "-+");
    choose(durations, 1, -1, signs);
    assert_string_equal(signs, "+");
}

static void the_first_step_and_leading_outliers_are_warm_up(void **state)
{
    (void)state;
    // The median of the others is 1000; they do not deviate, so the reach is 3 %.
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

// Six of sixteen that agree; five of them, if one does not; two of six; four of sixteen. The median
// of the run of four is 500, so it reaches to 515. Steps that settle are no phase: the median of
// 900, 700, 500, 300 deviates by 200.
static void many_leading_steps_that_agree_are_a_phase(void **state)
{
    (void)state;
    int64_t durations[16];
    char signs[17];
    for (int s = 0; s < 16; s++)
        durations[s] = s < 6 ? 500 : 1000;
    choose(durations, 16, -1, signs);
    assert_string_equal(signs, "-+++++++++++++++");
    durations[3] = 516;
    choose(durations, 16, -1, signs);
    assert_string_equal(signs, "------++++++++++");
    durations[3] = 515;
    durations[5] = 1000; // four after the first are a quarter
    choose(durations, 16, -1, signs);
    assert_string_equal(signs, "-----+++++++++++");
    choose(durations, 15, -1, signs);
    assert_string_equal(signs, "-++++++++++++++");
    choose((const int64_t[]){500, 500, 500, 1000, 1000, 1000}, 6, -1, signs);
    assert_string_equal(signs, "---+++");
    choose((const int64_t[]){990, 900, 700, 500, 300, 100, 100, 100, 100, 100}, 10, -1, signs);
    assert_string_equal(signs, "-----+++++");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_steps_the_first_is_warm_up),
        cmocka_unit_test(the_first_step_and_leading_outliers_are_warm_up),
        cmocka_unit_test(the_reach_follows_the_median_deviation),
        cmocka_unit_test(many_leading_steps_that_agree_are_a_phase),
        cmocka_unit_test(one_step_always_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
