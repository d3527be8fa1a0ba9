// SPDX-License-Identifier: Apache-2.0
// Numbers of lines that are not those of the job's steps.
#include "tests/unit/log_hand.h"

static void assert_steps(const char *text, const int64_t *steps, size_t count)
{
    read_whole(text);
    if (evidence.log.step_count != count)
        fail_msg("%zu steps: %s", evidence.log.step_count, text);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(evidence.log.steps[i].step, steps[i]);
}

#define ASSERT_STEPS(text, ...)                        \
    assert_steps(text, (const int64_t[]){__VA_ARGS__}, \
                 sizeof(const int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static bool has(size_t at, enum log_value value, double number)
{
    const struct log_step *step = &evidence.log.steps[at];
    return log_step_has(step, value) && step->values[value] == number;
}

// --- DeepSpeed's timer --------------------------------------------------------------------------

#define RATES(step)                                                                    \
    "0: [2025-01-01 10:00:01,001] [INFO] [logging.py:96:log_dist] [Rank 0] step=" step \
    ", skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]\n"
#define TIMER(count) "0: 0/" count ", SamplesPerSec=32.5\n"
#define MEGATRON(step) \
    "0: iteration " step "/ 2000 | elapsed time per iteration (ms): 59.0 | lm loss: 2.5 |\n"

// After a checkpoint of step 1000 the timer begins at 0.
static void a_timer_that_began_later_has_no_steps(void **state)
{
    (void)state;
    ASSERT_STEPS(RATES("1010") TIMER("10") MEGATRON("1010") RATES("1020") TIMER("20")
                     MEGATRON("1020"),
                 1010, 1010, 1020, 1020);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(evidence.log.steps[i].more, i % 2);
    assert_true(has(2, LOG_MEAN_SAMPLES_PER_S, 32.5));
    assert_true(has(3, LOG_LOSS, 2.5));
    assert_true(str_equal(evidence.source, STR("megatron-lm")));
    evidence_free(&evidence);
}

// Before 2023, with four batches to a step.
static void a_timer_of_batches_has_no_steps(void **state)
{
    (void)state;
    ASSERT_STEPS(TIMER("10") TIMER("20") TIMER("30") RATES("10") TIMER("40") TIMER("50") TIMER("60")
                     TIMER("70") RATES("20") TIMER("80"),
                 10, 20);
    assert_true(has(1, LOG_MEAN_SAMPLES_PER_S, 32.5));
    evidence_free(&evidence);
}

// A new process of the same log: the timer agrees with the other line of its step again.
static void a_timer_begins_again_with_its_job(void **state)
{
    (void)state;
    ASSERT_STEPS(RATES("10") TIMER("10") RATES("20") TIMER("20") RATES("10") TIMER("10"), 10, 20,
                 10);
    assert_true(has(2, LOG_MEAN_SAMPLES_PER_S, 32.5));
    evidence_free(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_that_began_later_has_no_steps),
        cmocka_unit_test(a_timer_of_batches_has_no_steps),
        cmocka_unit_test(a_timer_begins_again_with_its_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
