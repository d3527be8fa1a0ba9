// SPDX-License-Identifier: Apache-2.0
// Small cases in which other trace tools are known to give another figure, computed by hand.
// Cases of a single analysis are in its own test.
#include "tests/named_cell.h"
#include "tests/unit/hand_trace.h"

static void a_kernels_mean_is_that_of_its_calls(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 1, 0, 10);
    hand_kernel(&hand, "gemm", 1, 100, 20);
    hand_kernel(&hand, "gemm", 1, 200, 60);
    hand_analyze(&hand);
    const struct table *kernels = report_find(&hand.report, "kernels");
    assert_int_equal(named_cell(kernels, 0, "calls")->i, 3);
    assert_int_equal(named_cell(kernels, 0, "total_ns")->i, 90);
    assert_true(named_cell(kernels, 0, "mean_ns")->f == 30.0);
    hand_end(&hand);
}

// Rounded to whole microseconds, both kernels would vanish.
static void kernels_under_a_microsecond_keep_every_nanosecond(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "first", 1, 1001, 499);
    hand_kernel(&hand, "second", 1, 1600, 333);
    hand_analyze(&hand);
    size_t trace = hand_find(&hand, "breakdown", "scope", "trace");
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "window_ns"), 932);
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "compute_ns"), 832);
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "idle_ns"), 100);
    hand_end(&hand);
}

static void waiting_for_a_stream_is_not_busy(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 0, 100);
    hand_add(
        &hand,
        (struct hand_event){
            .kind = EVENT_SYNC, .name = "Stream Sync", .row = 7, .begin_ns = 100, .dur_ns = 400});
    hand_kernel(&hand, "gemm", 7, 500, 100);
    hand_analyze(&hand);
    size_t trace = hand_find(&hand, "breakdown", "scope", "trace");
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "busy_ns"), 200);
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "idle_ns"), 400);
    hand_end(&hand);
}

static void names_decide_the_class_by_what_the_kernel_does(void **state)
{
    static const struct {
        const char *name;
        enum device_class class;
    } kernels[] = {
        {"hipcub::DeviceScanKernel", CLASS_COMPUTE},
        {"hip_softmax_forward", CLASS_COMPUTE},
        {"hipMemcpyAsync_kernel", CLASS_MEMORY},
        {"__amd_rocclr_fillBufferAligned", CLASS_MEMORY},
        {"SyncBatchNorm_reduce_welford", CLASS_COMPUTE},
        {"gather_dma_tiles", CLASS_COMPUTE},
        {"vllm::cross_device_reduce_1stage", CLASS_COMMUNICATION},
        {"multimem_all_reduce_kernel", CLASS_COMMUNICATION},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        assert_int_equal(event_device_class(EVENT_KERNEL, str_of(kernels[i].name), false),
                         kernels[i].class);
    assert_int_equal(event_device_class(EVENT_MEMSET, STR("Memset (Device)"), false), CLASS_MEMORY);
}

// Compiler operators run on the host, whatever stream their arguments name.
static void operators_of_triton_are_no_kernels(void **state)
{
    (void)state;
    assert_int_equal(event_kind_of_category(STR("cpu_op")), EVENT_CPU_OP);
    assert_false(event_kind_is_device(EVENT_CPU_OP));
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                        .name = "triton_poi_fused_add_0",
                                        .pid = 100,
                                        .row = 7,
                                        .dur_ns = 900});
    hand_kernel(&hand, "triton_poi_fused_add_0", 7, 1000, 50);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "device_events"), 1);
    size_t trace = hand_find(&hand, "breakdown", "scope", "trace");
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "window_ns"), 50);
    hand_end(&hand);
}

static void kernels_without_a_launch_count_in_the_breakdown(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "launched before the recording", 1, 0, 70);
    hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                        .name = "cudaLaunchKernel",
                                        .pid = 100,
                                        .row = 1,
                                        .begin_ns = 80,
                                        .dur_ns = 5,
                                        .correlation = 9});
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "launched in it",
                                        .row = 1,
                                        .begin_ns = 100,
                                        .dur_ns = 30,
                                        .correlation = 9});
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "linked_device_events"), 1);
    size_t trace = hand_find(&hand, "breakdown", "scope", "trace");
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "window_ns"), 130);
    assert_int_equal(hand_i64(&hand, "breakdown", trace, "busy_ns"), 100);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernels_mean_is_that_of_its_calls),
        cmocka_unit_test(kernels_under_a_microsecond_keep_every_nanosecond),
        cmocka_unit_test(waiting_for_a_stream_is_not_busy),
        cmocka_unit_test(names_decide_the_class_by_what_the_kernel_does),
        cmocka_unit_test(operators_of_triton_are_no_kernels),
        cmocka_unit_test(kernels_without_a_launch_count_in_the_breakdown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
