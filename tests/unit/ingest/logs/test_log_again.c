// SPDX-License-Identifier: Apache-2.0
// What one log says twice: jobs that start again in it, and ranks that report the same.
#include "tests/unit/log_hand.h"

static int set_up(void **state)
{
    (void)state;
    evidence_init(&evidence, &budget);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    evidence_free(&evidence);
    assert_int_equal(budget.used, 0);
    return 0;
}

static void a_bar_numbers_a_job_that_starts_again_in_the_same_log(void **state)
{
    (void)state;
    static const int64_t numbers[] = {90, 100, 10, 20};
    read_pieces(" 90%|## | 90/100 [00:45<00:05, 2.00it/s]{'loss': 2.1, 'epoch': 0.9}\n"
                "100%|###| 100/100 [00:50<00:00, 2.00it/s]{'loss': 2.0, 'epoch': 1.0}\n"
                " 10%|#  | 10/100 [00:05<00:45, 2.00it/s]{'loss': 2.9, 'epoch': 0.1}\n"
                " 20%|#  | 20/100 [00:10<00:40, 2.00it/s]{'loss': 2.8, 'epoch': 0.2}\n",
                "train.log", 0);
    assert_int_equal(evidence.log.step_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(evidence.log.steps[i].step, numbers[i]);
}

static void an_end_completes_the_start_of_its_rank(void **state)
{
    (void)state;
    read_pieces("step: 10  loss:  3.5  memory:  9GiB(1%)  tps: 900\n"
                "[rank0]: Saving the checkpoint.\n"
                "[rank1]: Saving the checkpoint.\n"
                "[rank0]: Finished saving the checkpoint in 2.50 seconds.\n"
                "[rank1]: Finished saving the checkpoint in 2.75 seconds.\n",
                "train.log", 0);
    assert_int_equal(evidence.log.event_count, 2);
    assert_true(evidence.log.events[0].dur_ns == INT64_C(2500000000));
    assert_true(evidence.log.events[1].dur_ns == INT64_C(2750000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_bar_numbers_a_job_that_starts_again_in_the_same_log,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_completes_the_start_of_its_rank, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
