// SPDX-License-Identifier: Apache-2.0
// The tables of one trace: small traces whose every figure was computed by hand.
#include "tests/unit/hand_trace.h"

#include "analysis/report/trust.h"

#include <math.h>
#include <stdio.h>

static void add_launch(struct hand *hand, const char *name, int64_t begin_ns, int64_t correlation)
{
    hand_call(hand, name, begin_ns, 5, correlation);
}

static void add_op(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_host(hand, EVENT_CPU_OP, name, begin_ns, dur_ns);
}

static void add_kernel(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns,
                       int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = name,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .row = 7,
                                       .correlation = correlation,
                                       .grid = (int32_t)dur_ns});
}

static void kernels_are_summed_by_name(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mm", 0, 100);
    add_launch(&hand, "l", 10, 1);
    add_launch(&hand, "l", 20, 2);
    add_kernel(&hand, "a", 100, 30, 1);
    add_kernel(&hand, "a", 200, 10, 2);
    add_kernel(&hand, "a", 300, 10, 0);
    add_kernel(&hand, "b", 400, 100, 0);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "kernels"), 2);
    assert_string_equal(hand_word(&hand, "kernels", 0, "name"), "b");
    assert_null(hand_word(&hand, "kernels", 0, "op"));
    assert_string_equal(hand_word(&hand, "kernels", 1, "op"), "aten::mm");
    assert_string_equal(hand_word(&hand, "kernels", 1, "category"), "GEMM");
    assert_int_equal(hand_i64(&hand, "kernels", 1, "calls"), 3);
    assert_int_equal(hand_i64(&hand, "kernels", 1, "total_ns"), 50);
    assert_int_equal(hand_i64(&hand, "kernels", 1, "owned_ns"), 50);
    assert_int_equal(hand_i64(&hand, "kernels", 1, "exposed_ns"), 0);
    assert_int_equal(hand_i64(&hand, "kernels", 1, "min_ns"), 10);
    assert_int_equal(hand_i64(&hand, "kernels", 1, "median_ns"), 10);
    assert_int_equal(hand_i64(&hand, "kernels", 1, "max_ns"), 30);
    assert_true(hand_cell(&hand, "kernels", 1, "window_share")->f == 0.125);
    assert_true(hand_cell(&hand, "kernels", 1, "busy_share")->f == 50.0 / 150);
    assert_true(hand_cell(&hand, "kernels", 1, "calls_per_step")->f == 3);
    assert_true(hand_cell(&hand, "kernels", 1, "per_step_ns")->f == 50);
    assert_string_equal(hand_word(&hand, "kernels", 1, "grid"), "10,1,1"); // two calls of three
    assert_null(hand_word(&hand, "kernels", 1, "block"));
    hand_end(&hand);
}

// On two streams at once, "a" takes longer than the device is busy.
static void shares_of_busy_time_count_no_time_twice(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "a", 7, 0, 80);
    hand_kernel(&hand, "a", 8, 0, 80);
    hand_kernel(&hand, "b", 8, 80, 20);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "kernels", 0, "total_ns"), 160);
    assert_true(hand_cell(&hand, "kernels", 0, "busy_share")->f == 0.8);
    assert_true(hand_cell(&hand, "kernels", 1, "busy_share")->f == 0.2);
    hand_end(&hand);
}

// 304 blocks of 256 threads, as PyTorch's profiler records them on ROCm.
static void grids_of_extended_launches_are_in_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        int32_t grid;
        const char *shown, *basis;
    } cases[] = {
        {"hipExtModuleLaunchKernel", 304 * 256, "304,1,1", "few_blocks"},
        {"hipHccModuleLaunchKernel", 304 * 256 - 255, "304,1,1", "few_blocks"},
        {"hipExtModuleLaunchKernel", 609 * 256, "609,1,1", "grid"},
        {"hipModuleLaunchKernel", 304, "304,1,1", "few_blocks"},
        {"hipExtLaunchKernel", 1000, "1000,1,1", "grid"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_launch(&hand, cases[i].call, 10, 1);
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "Cijk_Ailk_Bljk_BBS_BH",
                                            .begin_ns = 100,
                                            .dur_ns = 50,
                                            .row = 7,
                                            .correlation = 1,
                                            .grid = cases[i].grid,
                                            .block = 256});
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "kernels", 0, "grid"), cases[i].shown);
        assert_string_equal(hand_word(&hand, "kernels", 0, "block"), "256,1,1");
        assert_string_equal(hand_word(&hand, "kernel_shapes", 0, "grid"), cases[i].shown);
        assert_string_equal(hand_word(&hand, "kernel_rates", 0, "basis"), cases[i].basis);
        hand_end(&hand);
    }
}

static void operators_sum_the_union_of_what_each_call_launched(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::add", 0, 50);
    add_launch(&hand, "l", 10, 1); // two device events that overlap: [100,130) and [120,140)
    add_launch(&hand, "l", 20, 2); // [200,210)
    add_op(&hand, "aten::add", 60, 50);
    add_launch(&hand, "l", 70, 3); // [205,215), overlaps only the other call's
    add_op(&hand, "aten::view", 200, 50);
    add_kernel(&hand, "k", 100, 30, 1);
    add_kernel(&hand, "k", 120, 20, 1);
    add_kernel(&hand, "k", 200, 10, 2);
    add_kernel(&hand, "k", 205, 10, 3);
    hand_analyze(&hand);
    size_t add = hand_find(&hand, "operators", "name", "aten::add");
    assert_int_equal(hand_i64(&hand, "operators", add, "launching_calls"), 2);
    assert_int_equal(hand_i64(&hand, "operators", add, "self_ns"), 60);
    assert_int_equal(hand_i64(&hand, "launches", 0, "value"), 4); // linked
    size_t graphs = hand_find(&hand, "launches", "metric", "graph_launches");
    assert_int_equal(hand_i64(&hand, "launches", graphs, "value"), 1);
    size_t delay = hand_find(&hand, "launches", "metric", "launch_delay_median_ns");
    assert_int_equal(hand_i64(&hand, "launches", delay, "value"), 105); // 85 105 130 175
    hand_end(&hand);
}

static void add_collective(struct hand *hand, int64_t begin_ns, const char *group)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "ncclDevKernel_Generic_1",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 1000,
                                       .row = 20,
                                       .collective = "allreduce",
                                       .dtype = "BFloat16",
                                       .group = group,
                                       .in_elems = 4000,
                                       .out_elems = 4000,
                                       .group_size = 8});
}

static void collectives_have_bandwidths_and_groups_of_their_own(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_collective(&hand, 0, "0");
    add_collective(&hand, 2000, "0");
    add_collective(&hand, 4000, "1");
    hand_kernel(&hand, "ncclKernel_SendRecv_RING", 20, 6000, 500);
    hand_kernel(&hand, "sgemm", 7, 0, 400); // hides part of the first
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "collectives"), 3);
    assert_string_equal(hand_word(&hand, "collectives", 0, "kind"), "all_reduce");
    assert_string_equal(hand_word(&hand, "collectives", 0, "process_group"), "0");
    assert_int_equal(hand_i64(&hand, "collectives", 0, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "total_ns"), 2000);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "exposed_ns"), 1600);
    assert_int_equal(hand_i64(&hand, "collectives", 0, "bytes"), 8000);
    assert_true(hand_cell(&hand, "collectives", 0, "algo_gbps")->f == 8);
    assert_true(hand_cell(&hand, "collectives", 0, "bus_gbps")->f == 14);
    assert_string_equal(hand_word(&hand, "collectives", 1, "process_group"), "1");
    assert_null(hand_word(&hand, "collectives", 2, "collective"));
    assert_string_equal(hand_word(&hand, "collectives", 2, "kind"), "send_recv");
    assert_string_equal(hand_word(&hand, "collectives", 2, "kernel"), "ncclKernel_SendRecv_RING");
    hand_end(&hand);
}

static void devices_share_the_window_of_the_trace(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int gpu = 0; gpu < 2; gpu++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "sgemm",
                                            .begin_ns = 100 * gpu,
                                            .dur_ns = 150,
                                            .pid = gpu + 2,
                                            .row = 7});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "breakdown"), 4);
    assert_int_equal(hand_i64(&hand, "breakdown", 0, "window_ns"), 250);
    assert_int_equal(hand_i64(&hand, "breakdown", 0, "compute_ns"), 250);
    for (size_t row = 2; row < 4; row++) {
        assert_string_equal(hand_word(&hand, "breakdown", row, "scope"), "device");
        assert_int_equal(hand_i64(&hand, "breakdown", row, "window_ns"), 250);
        assert_int_equal(hand_i64(&hand, "breakdown", row, "compute_ns"), 150);
        assert_int_equal(hand_i64(&hand, "breakdown", row, "idle_ns"), 100);
    }
    assert_string_equal(hand_word(&hand, "breakdown", 3, "device"), "3");
    assert_true(hand_cell(&hand, "breakdown", 0, "overlap_share")->null);
    assert_int_equal(hand_i64(&hand, "summary", 0, "devices"), 2);
    hand_end(&hand);
}

static void parts_sum_to_the_bars_of_the_steady_steps(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int s = 0; s < 4; s++) {
        hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                            .name = s ? "ProfilerStep#2" : "ProfilerStep#1",
                                            .begin_ns = 1000 * s,
                                            .dur_ns = 1000,
                                            .pid = 1,
                                            .row = 1});
        add_launch(&hand, "l", 1000 * s + 10, 10 * s + 1);
        add_launch(&hand, "l", 1000 * s + 600, 10 * s + 2);
        add_kernel(&hand, "sgemm", 1000 * s + 100, 300, 10 * s + 1);
        add_kernel(&hand, "elementwise", 1000 * s + 700, 200, 10 * s + 2);
        hand_kernel(&hand, "ncclKernel", 9, 1000 * s + 350, 100);
    }
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "steady_steps"), 3);
    size_t steady = hand_find(&hand, "breakdown", "scope", "steady");
    static const char *const bars[][2] = {
        {"gemm", "gemm_ns"},
        {"other_compute", "other_compute_ns"},
        {"exposed_comm", "exposed_comm_ns"},
        {"idle_host_wait", "idle_host_wait_ns"},
    };
    int64_t sum_ns = 0;
    for (size_t b = 0; b < 4; b++) {
        size_t part = hand_find(&hand, "parts", "bar", bars[b][0]);
        assert_int_equal(hand_i64(&hand, "parts", part, "owned_ns"),
                         hand_i64(&hand, "breakdown", steady, bars[b][1]));
        sum_ns += hand_i64(&hand, "parts", part, "owned_ns");
    }
    assert_int_equal(sum_ns, hand_i64(&hand, "breakdown", steady, "window_ns"));
    size_t gemm = hand_find(&hand, "parts", "bar", "gemm");
    assert_int_equal(hand_i64(&hand, "parts", gemm, "calls"), 3);
    assert_int_equal(hand_i64(&hand, "parts", gemm, "owned_ns"), 900);
    hand_end(&hand);
}

static void short_kernels_are_those_under_ten_microseconds(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "a", 7, 0, 9999);
    hand_kernel(&hand, "b", 7, 20000, 10000);
    hand_add(&hand, (struct hand_event){
                        .kind = EVENT_MEMSET, .name = "Memset", .begin_ns = 40000, .row = 7});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "short_kernels"), 1);
    assert_int_equal(hand_i64(&hand, "short_kernels", 0, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "short_kernels", 0, "short_calls"), 1);
    assert_int_equal(hand_i64(&hand, "short_kernels", 0, "short_ns"), 9999);
    hand_end(&hand);
}

static void identity_and_environment_come_from_the_files_members(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "distributedInfo",
                "{\"backend\": \"nccl\", \"rank\": \"3\", \"world_size\": 8}");
    hand_member(&hand, "deviceProperties",
                "[{\"id\": 0, \"name\": \"\"}, {\"id\": 1, \"name\": \"NVIDIA H100\"}]");
    hand_member(&hand, "record_shapes", "1");
    hand_member(&hand, "broken", "{\"a\": inf}");
    hand_kernel(&hand, "k", 7, 0, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "rank"), 3);
    assert_int_equal(hand_i64(&hand, "summary", 0, "world_size"), 8);
    assert_string_equal(hand_word(&hand, "summary", 0, "gpu"), "NVIDIA H100");
    size_t backend = hand_find(&hand, "environment", "key", "distributed.backend");
    assert_string_equal(hand_word(&hand, "environment", backend, "value"), "nccl");
    size_t shapes = hand_find(&hand, "environment", "key", "record_shapes");
    assert_string_equal(hand_word(&hand, "environment", shapes, "value"), "1");
    size_t broken = hand_find(&hand, "trust", "item", "metadata");
    assert_string_equal(hand_word(&hand, "trust", broken, "detail"), "broken");
    hand_end(&hand);
}

// Three steps of 100 ns, of which one is no warm-up.
static void analyze_hooked(struct hand *hand, const char *members)
{
    hand_begin(hand);
    hand_member(hand, "stepscope", members);
    for (int i = 0; i < 3; i++) {
        hand_add(hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                           .name = "ProfilerStep#1",
                                           .begin_ns = 100 * i,
                                           .dur_ns = 100,
                                           .pid = 1,
                                           .row = 1});
        add_launch(hand, "cudaLaunchKernel", 100 * i + 1, i + 1);
        hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                           .name = "k",
                                           .begin_ns = 100 * i + 10,
                                           .dur_ns = 80,
                                           .row = 7,
                                           .correlation = i + 1});
    }
    hand_analyze(hand);
}

static void steps_that_are_longer_than_those_of_the_hook_are_doubted(void **state)
{
    (void)state;
    struct hand hand;
    analyze_hooked(&hand, "{\"unrecorded_step_ns\": 80}");
    size_t row = hand_find(&hand, "trust", "item", "recorded_slower");
    assert_non_null(
        strstr(hand_word(&hand, "trust", row, "detail"), "steps take 25 % longer in the trace"));
    hand_end(&hand);
    static const char *const silent[] = {
        "{\"unrecorded_step_ns\": 97}", "{\"unrecorded_step_ns\": 20}",
        "{\"unrecorded_step_ns\": -1}", "{\"unrecorded_step_ns\": \"x\"}", "{}"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        analyze_hooked(&hand, silent[i]);
        assert_int_equal(trust_count(&hand.report, "recorded_slower"), 0);
        hand_end(&hand);
    }
}

static void assert_setting(const struct hand *hand, const char *key, const char *value)
{
    size_t row = hand_find(hand, "environment", "key", key);
    assert_string_equal(hand_word(hand, "environment", row, "value"), value);
}

static void settings_have_one_name_for_all_vendors(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_member(&hand, "hip_runtime_version", "60443483");
    hand_member(&hand, "hip_driver_version", "\"70253211\"");
    hand_kernel(&hand, "Cijk_Ailk_Bljk_BBS_BH_MT64x64x64", 7, 0, 10); // bf16 by name
    hand_analyze(&hand);
    assert_setting(&hand, "flavour", "rocm");
    assert_setting(&hand, "runtime", "HIP 6.4.43483");
    assert_setting(&hand, "driver", "HIP 7.2.53211");
    assert_setting(&hand, "precision", "bf16");
    hand_end(&hand);
    hand_begin(&hand);
    hand_member(&hand, "cuda_driver_version", "12090");
    hand_member(&hand, "cuda_runtime_version", "12040");
    hand_member(&hand, "precision", "\"as configured\"");
    hand_member(&hand, "metadata",
                "{\"system\": {\"torch_env_info\": {\"torch_version\": \"2.6.0+cu124\", "
                "\"nvidia_driver_version\": \"575.51.03\"}, \"env\": {\"TOKEN\": \"secret\"}}}");
    hand_kernel(&hand, "ampere_sgemm_128x64_nn", 7, 0, 10);
    hand_analyze(&hand);
    assert_setting(&hand, "flavour", "cuda");
    assert_setting(&hand, "runtime", "CUDA 12.4");
    assert_setting(&hand, "driver", "575.51.03");
    assert_setting(&hand, "framework", "PyTorch 2.6.0+cu124");
    assert_setting(&hand, "precision", "as configured");
    for (size_t row = 0; row < hand_rows(&hand, "environment"); row++)
        assert_string_not_equal(hand_word(&hand, "environment", row, "value"), "secret");
    hand_end(&hand);
}

static void a_rank_that_cannot_be_counts_as_not_given(void **state)
{
    (void)state;
    static const char *const ranks[] = {"-1", "2147483648", "9223372036854775807", "\"3x\""};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        struct hand hand;
        char text[64];
        hand_begin(&hand);
        snprintf(text, sizeof text, "{\"rank\": %s}", ranks[i]);
        hand_member(&hand, "distributedInfo", text);
        hand_kernel(&hand, "k", 7, 0, 10);
        hand_analyze(&hand);
        assert_true(hand_cell(&hand, "summary", 0, "rank")->null);
        hand_end(&hand);
    }
}

static void what_was_repaired_or_left_out_is_in_the_trust_report(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    trace_builder_repair(hand.builder, REPAIR_TRUNCATED, 1234);
    trace_builder_repair(hand.builder, REPAIR_INCOMPLETE, 77);
    trace_builder_repair(hand.builder, REPAIR_INCOMPLETE, 99);
    hand_kernel(&hand, "k", 7, 0, 10);
    hand_kernel(&hand, "k", 7, 5, 10);
    hand_kernel(&hand, "negative", 7, 20, -1);
    hand_analyze(&hand);
    size_t cut = hand_find(&hand, "trust", "item", "truncated");
    assert_int_equal(hand_i64(&hand, "trust", cut, "position"), 1234);
    size_t incomplete = hand_find(&hand, "trust", "item", "incomplete");
    assert_int_equal(hand_i64(&hand, "trust", incomplete, "count"), 2);
    assert_int_equal(hand_i64(&hand, "trust", incomplete, "position"), 77);
    size_t overlap = hand_find(&hand, "trust", "item", "stream_overlap");
    assert_int_equal(hand_i64(&hand, "trust", overlap, "time_ns"), 5);
    hand_find(&hand, "trust", "item", "implausible");
    hand_find(&hand, "trust", "item", "unlinked");
    hand_find(&hand, "trust", "item", "no_steps");
    assert_int_equal(hand_i64(&hand, "summary", 0, "incomplete"), 2);
    assert_int_equal(hand_i64(&hand, "summary", 0, "implausible"), 1);
    assert_string_equal(hand_word(&hand, "summary", 0, "trust_severity"), "warning");
    hand_end(&hand);
}

static void a_trace_without_device_events_says_so(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mm", 0, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "device_events"), 0);
    assert_true(hand_cell(&hand, "summary", 0, "step_median_ns")->null);
    assert_true(hand_cell(&hand, "summary", 0, "busy_share")->null);
    assert_string_equal(hand_word(&hand, "summary", 0, "trust_severity"), "error");
    assert_int_equal(hand_rows(&hand, "breakdown"), 0);
    assert_int_equal(hand_rows(&hand, "kernels"), 0);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_summed_by_name),
        cmocka_unit_test(shares_of_busy_time_count_no_time_twice),
        cmocka_unit_test(grids_of_extended_launches_are_in_blocks),
        cmocka_unit_test(operators_sum_the_union_of_what_each_call_launched),
        cmocka_unit_test(collectives_have_bandwidths_and_groups_of_their_own),
        cmocka_unit_test(devices_share_the_window_of_the_trace),
        cmocka_unit_test(parts_sum_to_the_bars_of_the_steady_steps),
        cmocka_unit_test(short_kernels_are_those_under_ten_microseconds),
        cmocka_unit_test(steps_that_are_longer_than_those_of_the_hook_are_doubted),
        cmocka_unit_test(identity_and_environment_come_from_the_files_members),
        cmocka_unit_test(settings_have_one_name_for_all_vendors),
        cmocka_unit_test(a_rank_that_cannot_be_counts_as_not_given),
        cmocka_unit_test(what_was_repaired_or_left_out_is_in_the_trust_report),
        cmocka_unit_test(a_trace_without_device_events_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
