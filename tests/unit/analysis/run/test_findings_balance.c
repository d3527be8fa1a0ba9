// SPDX-License-Identifier: Apache-2.0
// Ranks are compared per step where their steps are the same.
#include "tests/unit/run_findings_hand.h"

// A rank of another role, or whose whole recording counts as one step.
static void ranks_with_other_steps_are_no_imbalance(void **state)
{
    (void)state;
    for (int64_t times = 1; times <= 3; times += 2) {
        struct hand_run run;
        begin(&run);
        for (int i = 0; i < 4; i++)
            ROW(&run.report, &table_run_ranks, {"rank", cell_i64(i)},
                {"steady_steps", cell_i64(STEPS)},
                {"step_median_ns", cell_i64(i < 3 ? 100 * MS : times * 100 * MS)},
                {"compute_ns", cell_i64(i < 3 ? 60 * MS : 80 * MS)});
        run.ranks = 4;
        analyze(&run);
        assert_int_equal(count(&run), times == 1);
        end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_with_other_steps_are_no_imbalance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
