// SPDX-License-Identifier: Apache-2.0
// Single communication calls: what they are, when they happened, and what was done before.
#include "tests/unit/hand_trace.h"

#include <stdio.h>

#include "analysis/comm/comm_table.h"
#include "analysis/comm/group_ranks.h"
#include "analysis/report/table_limit.h"

static const char nccl[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

static struct hand_event all_reduce(int64_t begin_ns, int64_t dur_ns, int64_t correlation)
{
    return (struct hand_event){.kind = EVENT_KERNEL,
                               .name = nccl,
                               .row = 20,
                               .begin_ns = begin_ns,
                               .dur_ns = dur_ns,
                               .correlation = correlation,
                               .collective = "allreduce",
                               .dtype = "Float",
                               .group = "dp",
                               .ranks = "[0, 4]",
                               .in_elems = 100,
                               .out_elems = 100,
                               .group_size = 2};
}

// An event of the host.
struct host {
    enum event_kind kind;
    const char *name;
    int64_t thread, begin_ns, dur_ns, correlation;
};

static void add_host(struct hand *hand, struct host host)
{
    hand_add(hand, (struct hand_event){.kind = host.kind,
                                       .name = host.name,
                                       .pid = 1,
                                       .row = host.thread,
                                       .begin_ns = host.begin_ns,
                                       .dur_ns = host.dur_ns,
                                       .correlation = host.correlation});
}

// A launch on a thread and its kernel of 10 ns, 100 ns later.
static void add_work(struct hand *hand, int64_t thread, int64_t begin_ns, int64_t correlation)
{
    add_host(hand,
             (struct host){EVENT_RUNTIME, "cudaLaunchKernel", thread, begin_ns, 5, correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "gemm",
                                       .row = 7,
                                       .begin_ns = begin_ns + 100,
                                       .dur_ns = 10,
                                       .correlation = correlation});
}

static void assert_cell(const struct hand *hand, size_t row, const char *column, int64_t value)
{
    assert_int_equal(hand_i64(hand, "comm_calls", row, column), value);
}

// --- calls --------------------------------------------------------------------------------------

// gemm 0..100, copy 100..130, idle to 150, all-reduce 150..250 overlapped by gemm 200..300, then a
// second one 300..310.
static void times_before_a_call_part_the_time_up_to_its_begin(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 1000, 100);
    hand_add(
        &hand,
        (struct hand_event){
            .kind = EVENT_MEMCPY, .name = "Memcpy HtoD", .row = 8, .begin_ns = 1100, .dur_ns = 30});
    struct hand_event first = all_reduce(1150, 100, 0);
    first.sequence = 17;
    hand_add(&hand, first);
    hand_kernel(&hand, "gemm", 7, 1200, 100);
    hand_add(&hand, all_reduce(1300, 10, 0));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_calls"), 2);
    assert_int_equal(hand_rows(&hand, "comm_ops"), 1);
    static const struct {
        const char *column;
        int64_t values[2];
    } expected[] = {
        {"op", {0, 0}},           {"begin_ns", {150, 300}},   {"dur_ns", {100, 10}},
        {"exposed_ns", {50, 10}}, {"compute_ns", {100, 200}}, {"kernels", {1, 2}},
        {"memory_ns", {30, 30}},  {"comm_ns", {0, 50}},       {"data_loading_ns", {0, 0}},
        {"host_ns", {0, 0}},      {"idle_ns", {20, 20}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        for (size_t row = 0; row < 2; row++)
            assert_cell(&hand, row, expected[i].column, expected[i].values[row]);
    assert_cell(&hand, 0, "sequence", 17);
    assert_true(hand_cell(&hand, "comm_calls", 1, "sequence")->null);
    assert_true(hand_cell(&hand, "comm_calls", 0, "launch_ns")->null);
    hand_end(&hand);
}

// gemm runs in [100, 110); the all_reduce, launched before, starts at 100,200, and nothing recorded
// held it up.
static void unrecorded_time_before_a_call_is_not_idle(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_work(&hand, 1, 0, 1);
    add_host(&hand, (struct host){EVENT_RUNTIME, "cudaLaunchKernelExC", 1, 50, 5, 2});
    hand_add(&hand, all_reduce(100200, 10, 2));
    hand_analyze(&hand);
    assert_cell(&hand, 0, "begin_ns", 100100);
    assert_cell(&hand, 0, "compute_ns", 10);
    assert_cell(&hand, 0, "host_ns", 0);
    assert_cell(&hand, 0, "idle_ns", 0);
    assert_cell(&hand, 0, "unrecorded_ns", 100090);
    hand_end(&hand);
}

static void calls_know_their_launch_and_step(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_host(&hand, (struct host){EVENT_ANNOTATION, "ProfilerStep#7", 1, 0, 1000, 0});
    add_work(&hand, 1, 100, 1);
    add_host(&hand, (struct host){EVENT_RUNTIME, "cudaLaunchKernelExC", 1, 300, 5, 2});
    hand_add(&hand, all_reduce(400, 10, 2));
    hand_analyze(&hand);
    assert_cell(&hand, 0, "launch_ns", 100);
    assert_cell(&hand, 0, "step", 7);
    assert_cell(&hand, 0, "begin_ns", 200);
    hand_end(&hand);
}

static void the_window_begins_at_the_files_base_time(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "baseTimeNanoseconds", "1700000000000000000");
    hand_add(&hand, all_reduce(400, 10, 0));
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "window_begin_ns"), 1700000000000000400);
    hand_end(&hand);
    hand_begin(&hand);
    hand_add(&hand, all_reduce(400, 10, 0));
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "window_begin_ns"), 400);
    hand_end(&hand);
}

static void calls_past_the_limit_are_left_out_and_said(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < COMM_TABLE_MAX_CALLS + 3; i++)
        hand_add(&hand, all_reduce(i * 10, 5, 0));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_calls"), COMM_TABLE_MAX_CALLS);
    size_t row = hand_find(&hand, "trust", "item", "calls_left_out");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 3);
    hand_end(&hand);
}

// --- operations ---------------------------------------------------------------------------------

static void operations_differ_by_group_kind_size_and_peer(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    struct hand_event send = all_reduce(200, 10, 0), recv = all_reduce(300, 10, 0);
    send.collective = "send";
    send.peer = 1 + 4; // as recorded
    recv.collective = "recv";
    recv.peer_in_group = 1 + 0; // in the group of 0 and 4
    struct hand_event bare = {.kind = EVENT_KERNEL,
                              .name = "ncclDevKernel_SendRecv(x)",
                              .row = 20,
                              .begin_ns = 400,
                              .dur_ns = 5};
    struct hand_event joined = all_reduce(500, 10, 0);
    joined.collective = "coalesced";
    joined.name = bare.name;
    hand_add(&hand, all_reduce(0, 10, 0));
    hand_add(&hand, all_reduce(100, 10, 0));
    hand_add(&hand, send);
    hand_add(&hand, recv);
    hand_add(&hand, bare);
    hand_add(&hand, joined);
    hand_analyze(&hand);
    static const int64_t ops[] = {0, 0, 1, 2, 3, 4};
    for (size_t i = 0; i < 6; i++)
        assert_cell(&hand, i, "op", ops[i]);
    assert_int_equal(hand_rows(&hand, "comm_ops"), 5);
    static const char *const kinds[] = {"all_reduce", "send", "recv", "send_recv", "send_recv"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(hand_word(&hand, "comm_ops", i, "kind"), kinds[i]);
    assert_string_equal(hand_word(&hand, "comm_ops", 0, "process_group"), "dp");
    assert_string_equal(hand_word(&hand, "comm_ops", 0, "group_ranks"), "[0, 4]");
    assert_int_equal(hand_i64(&hand, "comm_ops", 0, "group_size"), 2);
    assert_int_equal(hand_i64(&hand, "comm_ops", 0, "bytes"), 400);
    assert_true(hand_cell(&hand, "comm_ops", 0, "peer")->null);
    assert_int_equal(hand_i64(&hand, "comm_ops", 1, "peer"), 4);
    assert_int_equal(hand_i64(&hand, "comm_ops", 2, "peer"), 0);
    assert_null(hand_word(&hand, "comm_ops", 3, "process_group"));
    assert_string_equal(hand_word(&hand, "comm_ops", 3, "kernel"), bare.name);
    assert_null(hand_word(&hand, "comm_ops", 4, "kernel"));
    hand_end(&hand);
}

static void sends_to_different_ranks_share_a_row_of_collectives(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 4; i++) {
        struct hand_event send = all_reduce(i * 100, 10 + i, 0);
        send.collective = "send";
        send.peer = 1 + i % 2;
        hand_add(&hand, send);
    }
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_ops"), 2);
    assert_int_equal(hand_rows(&hand, "collectives"), 1);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "calls"), 4);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "total_ns"), 46);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "min_ns"), 10);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "max_ns"), 13);
    hand_end(&hand);
}

static void lists_of_ranks_that_were_cut_are_written_out(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    struct hand_event call = all_reduce(0, 10, 0);
    call.ranks = "[2, 4, ..., 8]";
    call.group_size = 4;
    call.rank_start = 2;
    call.rank_stride = 2;
    hand_add(&hand, call);
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "comm_ops", 0, "group_ranks"), "[2, 4, 6, 8]");
    hand_end(&hand);
    struct arena arena;
    struct budget budget = {0};
    struct err err;
    arena_init(&arena, &budget);
    static const char *const none[] = {
        "",      "[]",     "[0, ...]",
        "1:0:1", "0:5:0",  "0:70000:1",
        "0:1",   "-1:3:1", "0:9223372036854775807:9223372036854775807"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(group_ranks_list(str_of(none[i]), &arena, &err).len, 0);
    arena_free(&arena);
}

// --- phases -------------------------------------------------------------------------------------

// Main thread 1, engine thread 2. Forward 0.., backward 1000.., between 2000.., optimizer
// 3000..4000, after it 4500, next step's forward from 5000 on.
static void add_step(struct hand *hand, int64_t begin_ns, int64_t id)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)id);
    add_host(hand, (struct host){EVENT_ANNOTATION, name, 1, begin_ns, 4900, 0});
    add_work(hand, 1, begin_ns + 10, id + 1);
    add_host(hand,
             (struct host){EVENT_CPU_OP, "autograd::engine::evaluate_function: AddmmBackward0", 2,
                           begin_ns + 1000, 300, 0});
    for (int64_t i = 0; i < 20; i++)
        add_work(hand, 2, begin_ns + 1010 + 10 * i, id + 2 + i);
    add_host(hand, (struct host){EVENT_ANNOTATION, "Optimizer.step#Adam.step", 1, begin_ns + 3000,
                                 1000, 0});
    add_work(hand, 1, begin_ns + 3100, id + 30);
    static const int64_t at[] = {500, 1400, 2000, 3500, 4500};
    static const int64_t thread[] = {1, 2, 1, 1, 1};
    for (int64_t i = 0; i < 5; i++) {
        int64_t launch_ns = begin_ns + at[i];
        add_host(hand, (struct host){EVENT_RUNTIME, "cudaLaunchKernelExC", thread[i], launch_ns, 5,
                                     id + 40 + i});
        hand_add(hand, all_reduce(launch_ns + 100, 10, id + 40 + i));
    }
}

static void the_phase_is_that_of_the_launch(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t step = 0; step < 3; step++)
        add_step(&hand, step * 5000, 100 * (step + 1));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_calls"), 15);
    static const char *const phases[] = {"forward", "backward", "other", "optimizer", "other"};
    for (size_t i = 0; i < 15; i++) {
        size_t op = (size_t)hand_i64(&hand, "comm_calls", i, "op");
        assert_string_equal(hand_word(&hand, "comm_ops", op, "phase"), phases[i % 5]);
    }
    hand_end(&hand);
}

static void passes_and_optimizer_of_a_step_have_their_spans(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t step = 0; step < 3; step++)
        add_step(&hand, step * 5000, 100 * (step + 1));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "passes"), 3);
    static const struct {
        const char *column;
        int64_t value;
    } expected[] = {{"step", 200},
                    {"begin_ns", 5000},           // of the window, which starts at 110
                    {"end_ns", 6200},             // the last of the 20 backward kernels
                    {"compute_ns", 10 + 200},     // they run one after another
                    {"optimizer_begin_ns", 8090}, // launched at 3100
                    {"optimizer_end_ns", 8100},
                    {"optimizer_compute_ns", 10},
                    {"micro_batches", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(hand_i64(&hand, "passes", 1, expected[i].column), expected[i].value);
    hand_end(&hand);
}

// Products that follow the last backward are gradients of weights, put off to fill the bubble; the
// next optimizer's are its own.
static void deferred_gradients_of_weights_belong_to_the_passes(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t step = 0; step < 3; step++)
        add_step(&hand, step * 5000, 100 * (step + 1));
    add_work(&hand, 1, 5000 + 2500, 900);
    add_work(&hand, 1, 5000 + 4600, 901);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "passes", 1, "begin_ns"), 5000);
    assert_int_equal(hand_i64(&hand, "passes", 1, "end_ns"), 7500);
    assert_int_equal(hand_i64(&hand, "passes", 1, "compute_ns"), 10 + 200 + 10);
    hand_end(&hand);
}

// It has no backward that a product could follow.
static void a_step_without_a_backward_ends_with_its_last_compute(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t step = 0; step < 3; step++)
        add_step(&hand, step * 5000, 100 * (step + 1));
    add_host(&hand, (struct host){EVENT_ANNOTATION, "ProfilerStep#4", 1, 15000, 5000, 0});
    add_work(&hand, 1, 15000, 900);
    hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                        .name = "cudaLaunchKernel",
                                        .begin_ns = 15100,
                                        .dur_ns = 5,
                                        .pid = 1,
                                        .row = 1,
                                        .correlation = 901});
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "softmax",
                                        .begin_ns = 20100,
                                        .dur_ns = 10,
                                        .row = 7,
                                        .correlation = 901});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "passes", 3, "end_ns"), 20000);
    hand_end(&hand);
}

// One step with `turns` forwards of three kernels, each with its backward; the last forward has
// none.
static void add_turns(struct hand *hand, int64_t turns)
{
    add_host(hand, (struct host){EVENT_ANNOTATION, "ProfilerStep#1", 1, 0, 1000 * turns + 900, 0});
    for (int64_t turn = 0; turn <= turns; turn++)
        for (int64_t i = 0; i < 3; i++)
            add_work(hand, 1, 1000 * turn + 100 * i, 10 * turn + i + 1);
    for (int64_t turn = 0; turn < turns; turn++) {
        add_host(hand,
                 (struct host){EVENT_CPU_OP, "autograd::engine::evaluate_function: AddmmBackward0",
                               2, 1000 * turn + 400, 300, 0});
        add_work(hand, 2, 1000 * turn + 450, 10 * turn + 9);
    }
    hand_add(hand, all_reduce(1000 * turns + 950, 5, 0));
}

static void micro_batches_are_forwards_that_a_backward_follows(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_turns(&hand, 4);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "passes", 0, "micro_batches"), 4);
    hand_end(&hand);
}

static void a_trace_without_a_backward_tells_no_phase(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_work(&hand, 1, 0, 1);
    add_host(&hand, (struct host){EVENT_RUNTIME, "cudaLaunchKernelExC", 1, 300, 5, 2});
    hand_add(&hand, all_reduce(400, 10, 2));
    hand_add(&hand, all_reduce(500, 10, 0));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "comm_ops"), 1);
    assert_null(hand_word(&hand, "comm_ops", 0, "phase"));
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_before_a_call_part_the_time_up_to_its_begin),
        cmocka_unit_test(unrecorded_time_before_a_call_is_not_idle),
        cmocka_unit_test(calls_know_their_launch_and_step),
        cmocka_unit_test(the_window_begins_at_the_files_base_time),
        cmocka_unit_test(calls_past_the_limit_are_left_out_and_said),
        cmocka_unit_test(operations_differ_by_group_kind_size_and_peer),
        cmocka_unit_test(sends_to_different_ranks_share_a_row_of_collectives),
        cmocka_unit_test(lists_of_ranks_that_were_cut_are_written_out),
        cmocka_unit_test(the_phase_is_that_of_the_launch),
        cmocka_unit_test(passes_and_optimizer_of_a_step_have_their_spans),
        cmocka_unit_test(deferred_gradients_of_weights_belong_to_the_passes),
        cmocka_unit_test(a_step_without_a_backward_ends_with_its_last_compute),
        cmocka_unit_test(micro_batches_are_forwards_that_a_backward_follows),
        cmocka_unit_test(a_trace_without_a_backward_tells_no_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
