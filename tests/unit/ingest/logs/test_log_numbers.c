// SPDX-License-Identifier: Apache-2.0
// Numbers of lines that are not those of the job's steps, and rates that are not those of a GPU.
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

// Ranks without a name, one of which printed before the other line of the step.
static void timers_of_other_ranks_have_no_steps(void **state)
{
    (void)state;
    ASSERT_STEPS("0/10, SamplesPerSec=32.5\n" RATES("1010") "0/10, SamplesPerSec=32.5\n"
                                                            "0/10, SamplesPerSec=32.5\n",
                 1010);
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

// --- Lightning's bars ---------------------------------------------------------------------------

#define EPOCH(epoch, number, loss) \
    "Epoch " epoch ":  83%|## | " number " [00:30<00:05, 28.6it/s, loss=" loss ", v_num=77]\n"
#define VALIDATION(number) "Validation DataLoader 0:  50%|# | " number " [00:02<00:02, 28it/s]\n"

// Before version 2.0, of 859 batches and 157 of the validation.
static void batches_of_a_validation_are_no_steps(void **state)
{
    (void)state;
    ASSERT_STEPS(
        EPOCH("0", "859/1016", "0.223") VALIDATION("78/157") EPOCH("0", "937/1016", "0.223")
            VALIDATION("157/157") EPOCH("0", "1016/1016", "0.223") EPOCH("1", "1/1016", "0.220")
                EPOCH("1", "859/1016", "0.210") VALIDATION("1/157") EPOCH("1", "860/1016", "0.210"),
        859, 860, 2 * 859);
    evidence_free(&evidence);
}

// As before, with two validations to an epoch.
static void steps_between_validations_are_counted_on(void **state)
{
    (void)state;
    ASSERT_STEPS(EPOCH("0", "5/14", "2.5") VALIDATION("1/2") EPOCH("0", "6/14", "2.5")
                     VALIDATION("2/2") EPOCH("0", "7/14", "2.5") EPOCH("0", "12/14", "2.0")
                         VALIDATION("1/2") EPOCH("0", "13/14", "2.0") VALIDATION("2/2")
                             EPOCH("0", "14/14", "2.0") EPOCH("1", "1/14", "1.5"),
                 5, 10, 11);
    evidence_free(&evidence);
}

// Since version 2.0 the bar is that of the training alone.
static void a_bar_beside_a_validation_goes_on_after_it(void **state)
{
    (void)state;
    ASSERT_STEPS(EPOCH("0", "20/100", "2.5") VALIDATION("1/2") VALIDATION("2/2")
                     EPOCH("0", "22/100", "2.4") EPOCH("1", "1/100", "2.3"),
                 20, 22, 101);
    evidence_free(&evidence);
}

// Of the epochs before, all batches count.
static void a_log_may_begin_in_a_later_epoch(void **state)
{
    (void)state;
    ASSERT_STEPS(EPOCH("3", "859/1016", "0.223") VALIDATION("78/157")
                     EPOCH("3", "937/1016", "0.223") VALIDATION("157/157")
                         EPOCH("4", "1/1016", "0.220"),
                 3 * 1016 + 859, 3 * 1016 + 860);
    evidence_free(&evidence);
}

#define WITH_FIGURE(number) \
    "Epoch 0:  20%|# | " number " [00:30<00:05, 28it/s, loss=2.5, v_num=7, Validation_loss=2]\n"

static void a_figure_of_a_validation_is_no_bar_of_one(void **state)
{
    (void)state;
    ASSERT_STEPS(WITH_FIGURE("20/100") WITH_FIGURE("20/100") WITH_FIGURE("40/100"), 20, 40);
    evidence_free(&evidence);
}

// Of labeled tokens of a step's last batch, by the time of all its batches.
static void rates_of_axolotl_are_left_out(void **state)
{
    (void)state;
    read_whole("{'loss': 1.5, 'grad_norm': 0.9, 'learning_rate': 2e-05, 'tokens/total': 65536, "
               "'tokens/train_per_sec_per_gpu': 1000.0, 'tokens_per_second_per_gpu': 1000.0, "
               "'epoch': 0.1}\n");
    assert_true(has(0, LOG_CONSUMED_TOKENS, 65536));
    assert_false(log_step_has(&evidence.log.steps[0], LOG_TOKENS_PER_S));
    evidence_free(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_that_began_later_has_no_steps),
        cmocka_unit_test(timers_of_other_ranks_have_no_steps),
        cmocka_unit_test(a_timer_of_batches_has_no_steps),
        cmocka_unit_test(a_timer_begins_again_with_its_job),
        cmocka_unit_test(batches_of_a_validation_are_no_steps),
        cmocka_unit_test(steps_between_validations_are_counted_on),
        cmocka_unit_test(a_bar_beside_a_validation_goes_on_after_it),
        cmocka_unit_test(a_log_may_begin_in_a_later_epoch),
        cmocka_unit_test(a_figure_of_a_validation_is_no_bar_of_one),
        cmocka_unit_test(rates_of_axolotl_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
