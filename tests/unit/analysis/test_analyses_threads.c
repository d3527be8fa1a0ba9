// SPDX-License-Identifier: Apache-2.0
// labels: threads
// A report is the same, byte for byte, whatever the number of threads.
#include "tests/unit/comm_job.h"
#include "tests/unit/real_traces.h"

static struct buf analyze_with(const struct hand *hand, struct cores *cores)
{
    struct analysis_options options = hand->options;
    struct report report = {0};
    struct budget *budget = hand->trace->budget;
    struct arena arena;
    struct buf out = {0};
    struct err err;
    options.cores = cores;
    arena_init(&arena, budget);
    report.arena = &arena;
    assert_true(analyze_trace(hand->trace, &options, &report, &err));
    assert_true(report_save(&report, &out, &err));
    arena_free(&arena);
    return out;
}

// hand->report was made on one thread.
static void compare_threads(const struct hand *hand)
{
    struct buf alone = {0};
    struct err err;
    assert_true(report_save(&hand->report, &alone, &err));
#ifdef __SANITIZE_THREAD__ // finds a race with any number of threads
    static const unsigned counts[] = {5};
#else
    static const unsigned counts[] = {1, 2, 5, 8};
#endif
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct cores cores;
        cores_init(&cores, counts[i]);
        cores_hold(&cores);
        struct buf shared = analyze_with(hand, &cores);
        assert_int_equal(shared.len, alone.len);
        assert_memory_equal(shared.at, alone.at, alone.len);
        assert_int_equal(atomic_load(cores.free), counts[i] - 1);
        buf_free(&shared);
    }
    buf_free(&alone);
}

static void add_step(struct hand *hand, int64_t step)
{
    int64_t at_ns = step * 1000;
    char mark[32];
    snprintf(mark, sizeof mark, "ProfilerStep#%d", (int)step);
    struct hand_event events[] = {
        {.kind = EVENT_ANNOTATION, .name = mark, .begin_ns = at_ns, .dur_ns = 900},
        {.kind = EVENT_CPU_OP, .name = "aten::mm", .begin_ns = at_ns + 10, .dur_ns = 200},
        {.kind = EVENT_RUNTIME, .begin_ns = at_ns + 20, .dur_ns = 5, .correlation = step + 1},
        {.kind = EVENT_ALLOCATION, .begin_ns = at_ns + 15, .bytes = 512, .device_type = 1},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        events[i].pid = events[i].row = 1;
        if (!events[i].name)
            events[i].name = "cudaLaunchKernel";
        hand_add(hand, events[i]);
    }
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = step % 3 ? "gemm" : "ncclDevKernel_AllReduce",
                                       .row = 7,
                                       .begin_ns = at_ns + 100,
                                       .dur_ns = 300 + step,
                                       .correlation = step + 1});
}

static void a_report_does_not_depend_on_threads(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t step = 0; step < 50; step++)
        add_step(&hand, step);
    hand_member(&hand, "deviceProperties", "[{\"id\": 0, \"name\": \"NVIDIA H100\"}]");
    hand_seal(&hand);
    assert_true(analyze_trace(hand.trace, &hand.options, &hand.report, &hand.err));
    compare_threads(&hand);
    hand_end(&hand);
}

static void reports_of_real_traces_do_not_depend_on_threads(void **state)
{
    (void)state;
    real_traces_each(compare_threads);
}

static struct buf solve_with(const struct job *job, struct cores *cores)
{
    struct run_comm comm = {0};
    struct budget budget = {0};
    struct arena arena;
    struct report report = {.arena = &arena};
    struct buf out = {0};
    struct err err;
    arena_init(&arena, NULL);
    assert_true(job_load(job, &comm, &budget, &err));
    comm.cores = cores;
    assert_true(run_comm_solve(&comm, &err) && run_clocks_add(&comm, &report, &err) &&
                run_waits_add(&comm, &report, &err) && run_lateness_add(&comm, &report, &err));
    assert_true(report_save(&report, &out, &err));
    run_comm_close(&comm);
    arena_free(&arena);
    assert_int_equal(budget.used, 0);
    return out;
}

// Some ranks miss calls, and one's clock runs fast.
static void what_ranks_have_together_does_not_depend_on_threads(void **state)
{
    (void)state;
    struct job job;
    struct cores cores;
    job_begin(&job, &(struct job_shape){.tensor = 4,
                                        .data = 8,
                                        .pipeline = 2,
                                        .steps = 6,
                                        .layers = 60,
                                        .buckets = 4,
                                        .listed = true,
                                        .world = true,
                                        .skew_ns = 50000000,
                                        .jitter_ns = 2000});
    for (int r = 5; r < job.count; r += 9)
        job.ranks[r].calls[job.ranks[r].count / 2].dropped = true;
    for (int i = 0; i < job.ranks[3].count; i++)
        job.ranks[3].calls[i].recorded_end_ns += job.ranks[3].calls[i].recorded_end_ns / 20000;
    struct buf alone = solve_with(&job, NULL);
    cores_init(&cores, 4);
    cores_hold(&cores);
    struct buf shared = solve_with(&job, &cores);
    assert_int_equal(shared.len, alone.len);
    assert_memory_equal(shared.at, alone.at, alone.len);
    assert_int_equal(cores_free(&cores), 3);
    buf_free(&alone);
    buf_free(&shared);
    job_end(&job);
}

static void make_fifty_steps(struct hand *hand)
{
    hand_begin(hand);
    for (int64_t step = 0; step < 50; step++)
        add_step(hand, step);
    hand_seal(hand);
}

// Tight limits hit at a different place each time; the memory must be freed wherever that is.
static void what_fails_on_one_thread_leaves_no_memory_behind(void **state)
{
    (void)state;
    struct hand hand;
    make_fifty_steps(&hand);
    uint64_t used = hand.budget.used;
    unsigned failed = 0;
    for (uint64_t room = 4096; room < (uint64_t)1 << 22; room *= 2) {
        struct cores cores;
        struct arena arena;
        struct report report = {.arena = &arena};
        cores_init(&cores, 4);
        cores_hold(&cores);
        hand.options.cores = &cores;
        hand.budget.limit = used + room;
        arena_init(&arena, &hand.budget);
        if (!analyze_trace(hand.trace, &hand.options, &report, &hand.err)) {
            assert_int_equal(hand.err.code, ERR_LIMIT);
            failed++;
        }
        arena_free(&arena);
        assert_int_equal(hand.budget.used, used);
    }
    assert_in_range(failed, 1, 9);
    hand_end(&hand);
}

// A trace that just fits has all but the replay.
static void the_replay_leaves_memory_to_the_others(void **state)
{
    (void)state;
    struct hand hand;
    make_fifty_steps(&hand);
    bool done = false;
    for (hand.budget.limit = hand.budget.used + 4096; !done; hand.budget.limit += 4096) {
        struct arena arena;
        struct report report = {.arena = &arena};
        arena_init(&arena, &hand.budget);
        done = analyze_trace(hand.trace, &hand.options, &report, &hand.err);
        assert_true(done || hand.err.code == ERR_LIMIT);
        assert_true(!done || !report_find(&report, table_ready_changes.name));
        arena_free(&arena);
    }
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_does_not_depend_on_threads),
        cmocka_unit_test(reports_of_real_traces_do_not_depend_on_threads),
        cmocka_unit_test(what_ranks_have_together_does_not_depend_on_threads),
        cmocka_unit_test(the_replay_leaves_memory_to_the_others),
        cmocka_unit_test(what_fails_on_one_thread_leaves_no_memory_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
