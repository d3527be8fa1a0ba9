// SPDX-License-Identifier: Apache-2.0
// Findings do not fall silent by accident: unexplained idle time, recordings without a device, many
// small collectives in one trace, products that are slower than others.
#include "tests/unit/findings_hand.h"

// The device is idle for idle_us of 10 ms, before a kernel whose launch was not recorded.
static void idle_unexplained(struct busy *busy, int64_t idle_us)
{
    busy_begin(busy);
    busy_run(busy, (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 5 * MS});
    hand_kernel(&busy->hand, "add", 7, busy->now_ns + idle_us * US, 5 * MS - idle_us * US);
    hand_analyze(&busy->hand);
}

// CASES.md, "Idle for an unknown reason".
static void idle_time_that_nothing_explains_is_reported(void **state)
{
    (void)state;
    struct busy busy;
    idle_unexplained(&busy, 1200);
    assert_int_equal(cost_of(&busy.hand, "unexplained_idle"), 1200 * US);
    assert_string_equal(finding_word(&busy.hand, "unexplained_idle", "title"),
                        "the device is idle 1.20 ms in the recording (12.0 %) that no other "
                        "finding explains: its cause is not recorded");
    assert_string_equal(finding_word(&busy.hand, "unexplained_idle", "confidence"), "low");
    assert_non_null(strstr(finding_word(&busy.hand, "unexplained_idle", "evidence"),
                           "idle_gaps?cause=unknown"));
    assert_non_null(strstr(finding_word(&busy.hand, "unexplained_idle", "evidence"),
                           "the longest such gap, 1.20 ms (unknown), ends with add"));
    hand_end(&busy.hand);
    idle_unexplained(&busy, 900); // 9 % are not much
    assert_false(has_finding(&busy.hand, "unexplained_idle"));
    hand_end(&busy.hand);
}

static void idle_time_that_another_finding_explains_is_not_reported_twice(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_run(&busy, (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 6 * MS});
    busy_run(&busy, (struct busy_work){
                        .op = "aten::add", .kernel = "add", .dur_ns = MS, .wait_ns = 3 * MS});
    hand_analyze(&busy.hand);
    assert_true(has_finding(&busy.hand, "launch_bound"));
    assert_false(has_finding(&busy.hand, "unexplained_idle"));
    hand_end(&busy.hand);
}

static void a_recording_without_a_device_says_so(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 3; i++)
        busy_host(&busy, EVENT_CPU_OP, "aten::mm", i * MS, MS);
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "findings"), 1);
    assert_true(str_starts_with(str_of(finding_word(&busy.hand, "no_device_events", "title")),
                                STR("no device work was recorded: 3 host operators")));
    assert_non_null(
        strstr(finding_word(&busy.hand, "no_device_events", "advice"), "recording table"));
    hand_end(&busy.hand);
}

// What JAX's trace.json has: kernels on rows named as streams, and nothing that calls them kernels.
static void a_trace_of_jax_without_kinds_names_the_file_to_send(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    busy_host(&busy, EVENT_CPU_OP, "loop_add_fusion", 0, MS);
    assert_true(
        trace_builder_name_thread(busy.hand.builder, (struct label){1, 0}, (struct label){1, 0},
                                  hand_text(&busy.hand, "Stream #14(Compute)"), &busy.hand.err));
    hand_analyze(&busy.hand);
    size_t row = hand_find(&busy.hand, "trust", "item", "no_device_events");
    assert_non_null(strstr(hand_word(&busy.hand, "trust", row, "detail"), ".xplane.pb"));
    assert_non_null(strstr(finding_word(&busy.hand, "no_device_events", "advice"), ".xplane.pb"));
    hand_end(&busy.hand);
}

// Other programs name the processes and threads of devices.
static void rows_of_devices_that_are_not_read_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *process, *thread, *name, *says;
    } rows[] = {
        {"CUDA functions", "0", NULL, "torch.profiler"},
        {"Device 0", "Stream 7", NULL, ".sqlite"},
        {"NPU", "2", "Computing", "Ascend"},
        {"CPU functions", "1", NULL, "other programs"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct busy busy;
        busy_begin(&busy);
        struct event_record record = {.kind = EVENT_OTHER, .name = hand_text(&busy.hand, "mm")};
        record.dur_ns = MS;
        record.pid.text = hand_text(&busy.hand, rows[i].process);
        record.tid.text = hand_text(&busy.hand, rows[i].thread);
        assert_true(trace_builder_add(busy.hand.builder, &record, &busy.hand.err));
        assert_true(!rows[i].name ||
                    trace_builder_name_thread(busy.hand.builder, record.pid, record.tid,
                                              hand_text(&busy.hand, rows[i].name), &busy.hand.err));
        hand_analyze(&busy.hand);
        assert_non_null(
            strstr(finding_word(&busy.hand, "no_device_events", "advice"), rows[i].says));
        hand_end(&busy.hand);
    }
}

// --- small collectives ---------------------------------------------------------------------------

static void reduce(struct busy *busy, int64_t elements, int64_t dur_ns, int64_t begin_ns)
{
    int64_t correlation = 1 + begin_ns;
    hand_add(&busy->hand, (struct hand_event){.kind = EVENT_KERNEL,
                                              .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                              .begin_ns = begin_ns,
                                              .dur_ns = dur_ns,
                                              .row = 20,
                                              .correlation = correlation,
                                              .collective = "allreduce",
                                              .dtype = "Float",
                                              .group = "0",
                                              .in_elems = elements,
                                              .out_elems = elements,
                                              .group_size = 8});
    busy_host(busy, EVENT_CPU_OP, "autograd::engine::evaluate_function: AccumulateGrad",
              busy->host_ns, 3 * US);
    hand_add(&busy->hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                              .name = "cudaLaunchKernel",
                                              .begin_ns = busy->host_ns + US,
                                              .dur_ns = US,
                                              .pid = 1,
                                              .row = 1,
                                              .correlation = correlation});
    busy->host_ns += 3 * US;
}

// 10 ms of compute alongside an all_reduce of 100 MB at 100 GB/s, then `count` of 32,768 bytes.
static void reduce_parameters(struct busy *busy, int count)
{
    busy_begin(busy);
    reduce(busy, 25000000, MS, busy->now_ns + MS);
    busy_run(busy, (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 10 * MS});
    for (int i = 0; i < count; i++)
        reduce(busy, 8192, 20 * US, busy->now_ns + i * 20 * US);
    hand_analyze(&busy->hand);
}

// CASES.md, "One all_reduce per parameter".
static void many_small_collectives_of_one_trace_are_reported(void **state)
{
    (void)state;
    struct busy busy;
    reduce_parameters(&busy, 40);
    assert_int_equal(cost_of(&busy.hand, "small_messages"), 40 * 19672);
    assert_true(str_starts_with(str_of(finding_word(&busy.hand, "small_messages", "title")),
                                STR("40 collectives under 1 MB in the recording")));
    size_t row = finding_row(&busy.hand, "small_messages"); // fully exposed, as another finding
                                                            // says
    assert_string_equal(hand_word(&busy.hand, "findings", row, "overlaps"),
                        "exposed_communication");
    hand_end(&busy.hand);
    reduce_parameters(&busy, 19);
    assert_false(has_finding(&busy.hand, "small_messages"));
    hand_end(&busy.hand);
}

// --- products ------------------------------------------------------------------------------------

#define BF16 "[\"c10::BFloat16\",\"c10::BFloat16\"]"

// CASES.md, "35 % beside 48 %".
static void a_product_slower_than_another_one_is_reported(void **state)
{
    (void)state;
    struct busy_work fast = {.op = "aten::mm",
                             .kernel = "nvjet_tst_256x128",
                             .dims = "[[4096,4096],[4096,4096]]",
                             .types = BF16,
                             .dur_ns = 290 * US}; // 48 % of 989 TFLOP/s
    struct busy_work slow = fast;
    slow.dims = "[[4096,4224],[4224,4096]]";
    slow.dur_ns = 410 * US; // 35 %
    struct busy busy;
    busy_begin(&busy);
    busy_repeat(&busy, 10, fast);
    busy_repeat(&busy, 10, slow);
    hand_analyze(&busy.hand);
    double best_ns = 290e3 * 4224 / 4096;
    assert_about(cost_of(&busy.hand, "gemm_below_roofline"), 10 * (410e3 - best_ns));
    hand_end(&busy.hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_time_that_nothing_explains_is_reported),
        cmocka_unit_test(idle_time_that_another_finding_explains_is_not_reported_twice),
        cmocka_unit_test(a_recording_without_a_device_says_so),
        cmocka_unit_test(a_trace_of_jax_without_kinds_names_the_file_to_send),
        cmocka_unit_test(rows_of_devices_that_are_not_read_are_named),
        cmocka_unit_test(many_small_collectives_of_one_trace_are_reported),
        cmocka_unit_test(a_product_slower_than_another_one_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
