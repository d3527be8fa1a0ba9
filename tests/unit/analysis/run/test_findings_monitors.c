// SPDX-License-Identifier: Apache-2.0
// Rules over what monitors recorded of the GPUs of a run.
#include "tests/unit/run_findings_hand.h"

static void add_gpu(struct hand_run *run, int64_t gpu, double throttled, double free_mhz,
                    double idle)
{
    ROW(&run->monitors, &table_monitors, {"file", word("m.csv")}, {"gpu", cell_i64(gpu)},
        {"samples", cell_i64(100)}, {"throttled_share", cell_f64(throttled)},
        {"throttle_reason", word("power cap")}, {"throttled_mhz", cell_f64(1400)},
        {"free_mhz", cell_f64(free_mhz)}, {"idle_share", cell_f64(idle)});
}

static void clocks_that_are_held_down_cost_compute_of_the_slowest(void **state)
{
    (void)state;
    for (int64_t ranks = 1; ranks <= 2; ranks++) {
        struct hand_run run;
        begin(&run);
        while (run.ranks < (size_t)ranks)
            add_rank(&run, 60, 0, 30);
        add_gpu(&run, 0, 0.25, 1750, 0);
        add_gpu(&run, 1, 0.50, 1750, 0);
        add_gpu(&run, 2, 0.01, 1750, 0);
        analyze(&run);
        // half of the time at 4/5 of the clock: 10 % of 60 ms
        assert_int_equal(cost_of(&run, "throttled_gpus"), 6 * MS);
        assert_non_null(strstr(word_of(&run, "throttled_gpus", "title"),
                               "the clock of GPUs 0-1 is throttled by power cap"));
        end(&run);
    }
}

static void add_joined(struct hand_run *run, int64_t rank, const char *file, int64_t cost_ms,
                       const char *joined_by)
{
    ROW(&run->report, &table_run_rank_monitors, {"rank", cell_i64(rank)}, {"file", word(file)},
        {"gpu", cell_i64(rank)}, {"joined_by", word(joined_by)},
        {"throttled_share", cell_f64(cost_ms ? 0.3 : 0)},
        {"throttle_cost_ns", cell_i64(cost_ms * MS)}, {"throttle_reason", word("heat")},
        {"throttled_mhz", cell_f64(1400)});
}

static void ranks_whose_gpu_is_known_at_the_time_of_the_trace_count(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 0, 30);
    add_rank(&run, 60, 0, 30);
    add_gpu(&run, 0, 0.50, 1750, 0); // of the whole job
    add_gpu(&run, 1, 0.50, 1750, 0);
    for (int64_t rank = 0; rank < 2; rank++)
        add_joined(&run, rank, "m.csv", rank * 4, "UUID");
    analyze(&run);
    assert_int_equal(cost_of(&run, "throttled_gpus"), 4 * MS);
    assert_non_null(strstr(word_of(&run, "throttled_gpus", "title"),
                           "the clock of rank 1 is throttled by heat"));
    assert_string_equal(word_of(&run, "throttled_gpus", "confidence"), "high");
    end(&run);
}

static void a_rank_whose_gpu_is_known_speaks_for_that_gpu_only(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 0, 30);
    add_rank(&run, 60, 0, 30);
    add_gpu(&run, 0, 0.50, 1750, 0);
    add_gpu(&run, 1, 0.50, 1750, 0);
    add_joined(&run, 0, "m.csv", 0, "UUID");
    analyze(&run);
    assert_int_equal(cost_of(&run, "throttled_gpus"), 6 * MS);
    assert_non_null(strstr(word_of(&run, "throttled_gpus", "title"),
                           "the clock of GPU 1 is throttled by power cap"));
    end(&run);
}

static void ranks_of_several_monitors_are_listed_once_and_in_order(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 0, 30);
    add_rank(&run, 60, 0, 30);
    add_gpu(&run, 0, 0, 1750, 0);
    for (int64_t file = 0; file < 2; file++)
        for (int64_t rank = 0; rank < 2; rank++)
            add_joined(&run, rank, file ? "n.csv" : "m.csv", 4, "order of ranks");
    analyze(&run);
    assert_non_null(strstr(word_of(&run, "throttled_gpus", "title"),
                           "the clock of ranks 0-1 is throttled by heat"));
    assert_string_equal(word_of(&run, "throttled_gpus", "confidence"), "medium");
    assert_non_null(
        strstr(word_of(&run, "throttled_gpus", "evidence"), "its GPU is known by order only"));
    end(&run);
}

static void gpus_that_idle_beside_others_are_named(void **state)
{
    (void)state;
    struct hand_run run;
    begin(&run);
    add_rank(&run, 60, 0, 30);
    for (int64_t gpu = 0; gpu < 4; gpu++)
        add_gpu(&run, gpu, 0, 1750, gpu < 2 ? 0.1 : 1);
    analyze(&run);
    assert_string_equal(word_of(&run, "idle_gpus", "title"), "GPUs 2-3 idle while others work");
    assert_int_equal(count(&run), 1);
    end(&run);
    begin(&run); // between two jobs all do
    add_rank(&run, 60, 0, 30);
    for (int64_t gpu = 0; gpu < 4; gpu++)
        add_gpu(&run, gpu, 0, 1750, 0.95);
    analyze(&run);
    assert_int_equal(count(&run), 0);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_that_are_held_down_cost_compute_of_the_slowest),
        cmocka_unit_test(ranks_whose_gpu_is_known_at_the_time_of_the_trace_count),
        cmocka_unit_test(a_rank_whose_gpu_is_known_speaks_for_that_gpu_only),
        cmocka_unit_test(ranks_of_several_monitors_are_listed_once_and_in_order),
        cmocka_unit_test(gpus_that_idle_beside_others_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
