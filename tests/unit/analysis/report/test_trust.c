// SPDX-License-Identifier: Apache-2.0
// The trust report: each line's count, time and severity on traces computed by hand.
#include "analysis/report/trust.h"
#include "tests/unit/hand_trace.h"

static void add_launch(struct hand *hand, int64_t begin_ns, int64_t correlation)
{
    hand_call(hand, "cudaLaunchKernel", begin_ns, 5, correlation);
}

static void add_kernel(struct hand *hand, int64_t stream, int64_t begin_ns, int64_t dur_ns,
                       int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .row = stream,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .correlation = correlation});
}

static void add_overhead(struct hand *hand, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_OVERHEAD,
                                       .name = "Activity Buffer Request",
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .pid = -1});
}

static bool has_item(const struct hand *hand, const char *item)
{
    for (size_t i = 0; i < hand_rows(hand, "trust"); i++)
        if (strcmp(hand_word(hand, "trust", i, "item"), item) == 0)
            return true;
    return false;
}

static void assert_item(const struct hand *hand, const char *item, int64_t count, int64_t time_ns)
{
    size_t row = hand_find(hand, "trust", "item", item);
    assert_int_equal(hand_i64(hand, "trust", row, "count"), count);
    assert_int_equal(hand_i64(hand, "trust", row, "time_ns"), time_ns);
    assert_true(strlen(hand_word(hand, "trust", row, "effect")) > 10);
}

static void what_was_launched_before_the_recording_differs_from_what_lost_its_launch(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launch(&hand, 0, 1);
    add_launch(&hand, 10, 2);
    add_kernel(&hand, 7, 100, 30, 0); // before stream 7's first linked one
    add_kernel(&hand, 7, 200, 20, 1);
    add_kernel(&hand, 7, 300, 7, 0); // after it
    add_kernel(&hand, 7, 400, 10, 2);
    add_kernel(&hand, 8, 500, 3, 0); // stream 8 has no linked one
    hand_analyze(&hand);
    assert_item(&hand, "launched_before", 2, 33);
    assert_item(&hand, "unlinked", 1, 7);
    hand_end(&hand);
}

static void a_recording_without_launches_has_lost_them_all(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 7, 100, 30, 0);
    add_kernel(&hand, 7, 200, 20, 5);
    hand_analyze(&hand);
    assert_false(has_item(&hand, "launched_before"));
    assert_item(&hand, "unlinked", 2, 50);
    size_t row = hand_find(&hand, "trust", "item", "unlinked");
    assert_string_equal(hand_word(&hand, "trust", row, "severity"), "warning");
    hand_end(&hand);
}

static void launches_without_device_events_are_dropped_kernels(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launch(&hand, 0, 1);
    add_launch(&hand, 10, 2);
    add_kernel(&hand, 7, 100, 30, 1);
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "dropped");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 1);
    hand_end(&hand);
}

static void overhead_counts_once_and_only_within_the_window(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 7, 1000, 1000, 0); // the window: [1000, 2000)
    add_overhead(&hand, 0, 500);         // before it
    add_overhead(&hand, 990, 20);        // 10 of it inside
    add_overhead(&hand, 1100, 20);
    add_overhead(&hand, 1110, 20);  // 10 more than the one before
    add_overhead(&hand, 1995, 900); // 5
    hand_analyze(&hand);
    assert_item(&hand, "profiler_overhead", 4, 45);
    size_t row = hand_find(&hand, "trust", "item", "profiler_overhead");
    assert_string_equal(hand_word(&hand, "trust", row, "severity"), "info"); // 4.5 %
    hand_end(&hand);
}

static void overhead_beyond_a_twentieth_of_the_window_is_a_warning(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 7, 1000, 1000, 0);
    add_overhead(&hand, 1100, 51);
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "profiler_overhead");
    assert_string_equal(hand_word(&hand, "trust", row, "severity"), "warning");
    hand_end(&hand);
}

static void kernels_before_their_launch_show_how_far_clocks_differ(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launch(&hand, 100, 1);
    add_launch(&hand, 200, 2);
    add_launch(&hand, 300, 3);
    add_kernel(&hand, 7, 90, 5, 1);  // 10 early
    add_kernel(&hand, 7, 160, 5, 2); // 40 early
    add_kernel(&hand, 7, 300, 5, 3); // at once
    hand_analyze(&hand);
    assert_item(&hand, "clock_skew", 2, 40);
    hand_end(&hand);
}

static void options_that_slow_the_host_are_reported(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 7, 0, 10, 0);
    for (int i = 0; i < 3; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_PYTHON,
                                            .name = "train.py(1): step",
                                            .begin_ns = 10 * i,
                                            .dur_ns = 5,
                                            .pid = 1,
                                            .row = 1});
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "stacks_recorded");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 3);
    assert_false(has_item(&hand, "memory_recorded"));
    hand_end(&hand);
}

static void add_mark(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_host(hand, EVENT_ANNOTATION, name, begin_ns, dur_ns);
}

static void time_outside_of_steps_has_a_line(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_mark(&hand, "ProfilerStep#1", 0, 100);
    add_mark(&hand, "ProfilerStep#2", 100, 100);
    add_launch(&hand, 10, 1);
    add_launch(&hand, 110, 2);
    add_kernel(&hand, 7, 5, 10, 0);   // 45 before the first step
    add_kernel(&hand, 7, 50, 10, 1);  // step 1: [50, 60)
    add_kernel(&hand, 7, 150, 20, 2); // step 2: [60, 170)
    add_kernel(&hand, 7, 180, 20, 0); // after it: [170, 200)
    hand_analyze(&hand);
    assert_item(&hand, "outside_steps", 1, 45 + 30);
    assert_false(has_item(&hand, "no_steps"));
    assert_true(has_item(&hand, "steps_excluded")); // the first of two
    hand_end(&hand);
}

static void a_step_pattern_that_fits_nothing_is_a_warning(void **state)
{
    (void)state;
    for (int fits = 0; fits < 2; fits++) {
        struct hand hand;
        hand_begin(&hand);
        hand.options.step_pattern = fits ? "train*" : "eval*";
        add_mark(&hand, "train_step", 0, 100);
        add_launch(&hand, 10, 1);
        add_kernel(&hand, 7, 50, 10, 1);
        hand_analyze(&hand);
        assert_int_equal(has_item(&hand, "step_pattern_missed"), !fits);
        if (!fits)
            assert_string_equal(
                hand_word(&hand, "trust", hand_find(&hand, "trust", "item", "step_pattern_missed"),
                          "detail"),
                "no annotation matches the requested step pattern 'eval*'; found train_step");
        assert_int_equal(has_item(&hand, "no_steps"), !fits);
        size_t row = hand_find(&hand, "environment", "key", "stepscope.step");
        assert_string_equal(hand_word(&hand, "environment", row, "value"),
                            hand.options.step_pattern);
        hand_end(&hand);
    }
}

static void steps_left_out_as_asked_say_so(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand.options.warmup_steps = 2;
    for (int i = 0; i < 4; i++) {
        add_mark(&hand, "ProfilerStep#1", 100 * i, 100);
        add_launch(&hand, 100 * i + 10, i + 1);
        add_kernel(&hand, 7, 100 * i + 50, 100, i + 1);
    }
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "steps_excluded");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 2);
    assert_string_equal(hand_word(&hand, "steps", 0, "reason"), "warm-up: excluded by request");
    assert_string_equal(hand_word(&hand, "steps", 1, "reason"), "warm-up: excluded by request");
    assert_null(hand_word(&hand, "steps", 2, "reason"));
    row = hand_find(&hand, "environment", "key", "stepscope.warmup");
    assert_string_equal(hand_word(&hand, "environment", row, "value"), "2");
    hand_end(&hand);
}

// As on a TPU: no call of the host launches its work.
static void steps_that_a_device_marks_are_not_unknown(void **state)
{
    (void)state;
    for (int marked = 0; marked < 2; marked++) {
        struct hand hand;
        hand_begin(&hand);
        trace_builder_recorder(hand.builder, RECORDER_XLA);
        hand_kernel(&hand, "k", 7, 100, 90);
        if (marked)
            hand_add(&hand, (struct hand_event){.kind = EVENT_GPU_ANNOTATION,
                                                .name = "ProfilerStep#4",
                                                .begin_ns = 100,
                                                .dur_ns = 100,
                                                .row = 90});
        hand_analyze(&hand);
        size_t row = hand_find(&hand, "trust", "item", "no_host_side");
        const char *effect = hand_word(&hand, "trust", row, "effect");
        assert_int_equal(strstr(effect, "steps are unknown") == NULL, marked);
        assert_null(strstr(effect, "complete")); // copies may not have been recorded
        hand_end(&hand);
    }
}

static void steps_cover_the_window_without_marks(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel(&hand, 7, 5, 10, 0);
    hand_analyze(&hand);
    assert_false(has_item(&hand, "outside_steps"));
    hand_find(&hand, "trust", "item", "no_steps");
    hand_end(&hand);
}

static const char *detail_of(const struct hand *hand, const char *item, const char *severity)
{
    size_t row = hand_find(hand, "trust", "item", item);
    assert_string_equal(hand_word(hand, "trust", row, "severity"), severity);
    assert_true(strlen(hand_word(hand, "trust", row, "effect")) > 10);
    return hand_word(hand, "trust", row, "detail");
}

// A step of a kernel on a stream, marked on the host while it is launched and runs.
static void add_step(struct hand *hand, const char *name, int64_t stream, const int64_t times_us[2])
{
    int64_t begin_ns = 1000 * times_us[0], end_ns = 1000 * times_us[1];
    add_mark(hand, name, begin_ns, end_ns - begin_ns);
    add_launch(hand, begin_ns + 20, end_ns);
    add_kernel(hand, stream, begin_ns + 50, end_ns - begin_ns - 50, end_ns);
}

#define STEP(hand, name, stream, begin_us, end_us) \
    add_step(hand, name, stream, (const int64_t[2]){begin_us, end_us})

static void without_launches_steps_cannot_be_found(void **state)
{
    (void)state;
    for (int launched = 0; launched < 2; launched++) {
        struct hand hand;
        hand_begin(&hand);
        add_mark(&hand, "ProfilerStep#1", 0, 100);
        add_mark(&hand, "ProfilerStep#2", 200, 100);
        add_launch(&hand, 150, launched);
        add_kernel(&hand, 7, 160, 10, launched);
        hand_analyze(&hand);
        assert_string_equal(detail_of(&hand, "no_steps", "info"),
                            launched
                                ? "no step annotations were found around launches of compute"
                                : "steps are found by launches within annotations, and no launch "
                                  "was recorded");
        hand_end(&hand);
    }
}

static void leading_steps_of_another_phase_are_a_warning(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 5; i++)
        STEP(&hand, "ProfilerStep#1", 7, 200 * i, 200 * (i + 1));
    for (int64_t i = 0; i < 6; i++)
        STEP(&hand, "ProfilerStep#1", 7, 1000 + 500 * i, 1500 + 500 * i);
    hand_analyze(&hand);
    assert_string_equal(detail_of(&hand, "step_phases", "warning"),
                        "the first 5 steps, too many for a warm-up, take 0.200 ms, the others "
                        "0.500 ms (medians)");
    size_t row = hand_find(&hand, "trust", "item", "step_phases");
    assert_non_null(strstr(hand_word(&hand, "trust", row, "effect"), "warmup=5"));
    hand_end(&hand);
}

// The mark of the only step begins 1,000 ns, or 40, before its kernel of 900, or the device is busy
// until 20 ns before it; of two steps the other has its wait.
static void the_wait_before_the_only_step_is_a_warning(void **state)
{
    (void)state;
    static const struct {
        int64_t launch_ns, busy_until_ns;
        int steps;
        bool warns;
    } cases[] = {{1000, 0, 1, true}, {40, 0, 1, false}, {1000, 980, 1, false}, {1000, 0, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        for (int64_t s = 0; s < cases[i].steps; s++) {
            int64_t begin_ns = 10000 * s;
            add_mark(&hand, "ProfilerStep#1", begin_ns, 10000);
            add_launch(&hand, begin_ns + cases[i].launch_ns - 10, s + 1);
            add_kernel(&hand, 7, begin_ns + cases[i].launch_ns, 900, s + 1);
        }
        if (cases[i].busy_until_ns)
            add_kernel(&hand, 8, -100, cases[i].busy_until_ns + 100, 0);
        hand_analyze(&hand);
        assert_int_equal(has_item(&hand, "first_wait"), cases[i].warns);
        if (cases[i].warns)
            assert_item(&hand, "first_wait", 1, 1000);
        hand_end(&hand);
    }
}

static void steps_of_optimizers_that_alternate_are_a_warning(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t longer_us;
        bool warns;
    } cases[] = {{"Optimizer.step#Adam.step", 300, true},
                 {"Optimizer.step#Adam.step", 205, false},
                 {"ProfilerStep#1", 300, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        int64_t begin_us = 0;
        for (int s = 0; s < 10; s++) {
            int64_t end_us = begin_us + (s % 2 ? cases[i].longer_us : 200);
            STEP(&hand, cases[i].name, 7, begin_us, end_us);
            begin_us = end_us;
        }
        hand_analyze(&hand);
        assert_int_equal(has_item(&hand, "alternating_steps"), cases[i].warns);
        if (cases[i].warns)
            assert_string_equal(detail_of(&hand, "alternating_steps", "warning"),
                                "every other step takes 0.300 ms or more, those between up to "
                                "0.200 ms, and optimizers mark them");
        hand_end(&hand);
    }
}

// Copies end no step anywhere.
static void steps_on_another_stream_are_a_warning(void **state)
{
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        struct hand hand;
        hand_begin(&hand);
        for (int64_t i = 0; i < 5; i++)
            STEP(&hand, "ProfilerStep#1", beside && i % 2 ? 8 : 7, 200 * i, 200 * (i + 1));
        add_mark(&hand, "ProfilerStep#1", 1000000, 1000);
        add_launch(&hand, 1000100, 77);
        hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                            .name = "Memcpy HtoD (Pinned -> Device)",
                                            .row = 9,
                                            .begin_ns = 1000200,
                                            .dur_ns = 10,
                                            .correlation = 77});
        hand_analyze(&hand);
        assert_int_equal(has_item(&hand, "steps_beside"), beside);
        if (beside)
            assert_int_equal(trust_count(&hand.report, "steps_beside"), 2);
        hand_end(&hand);
    }
}

// Marks around some optimizers each, with a kernel between any two of them.
static void several_updates_in_one_step_are_said(void **state)
{
    (void)state;
    for (int updates = 2; updates < 4; updates++) {
        struct hand hand;
        hand_begin(&hand);
        hand.options.warmup_steps = 0;
        for (int64_t step = 0; step < 2; step++) {
            add_mark(&hand, "ProfilerStep#1", 1000 * step, 1000);
            for (int64_t i = 0; i < updates; i++) {
                int64_t at_ns = 1000 * step + 100 * i, call = 10 * step + 2 * i + 1;
                add_launch(&hand, at_ns, call);
                add_kernel(&hand, 7, at_ns + 10, 50, call);
                add_mark(&hand, "Optimizer.step#SGD.step", at_ns + 50, 20);
                add_launch(&hand, at_ns + 60, call + 1);
                add_kernel(&hand, 7, at_ns + 70, 10, call + 1);
            }
        }
        hand_analyze(&hand);
        assert_int_equal(has_item(&hand, "updates_in_steps"), updates > 2);
        if (updates > 2)
            assert_string_equal(detail_of(&hand, "updates_in_steps", "info"),
                                "updates by an optimizer within the steps, with compute between "
                                "them: 3.0 per step");
        hand_end(&hand);
    }
}

static void add_kernel_of(struct hand *hand, const char *device, int64_t begin_ns)
{
    struct event_record record = {.kind = EVENT_KERNEL,
                                  .name = hand_text(hand, "gemm"),
                                  .begin_ns = begin_ns,
                                  .dur_ns = 10,
                                  .pid.text = hand_text(hand, device),
                                  .tid.number = 7,
                                  .correlation = VALUE_ABSENT,
                                  .sequence = VALUE_ABSENT};
    assert_true(trace_builder_add(hand->builder, &record, &hand->err));
}

static void ranks_merged_into_one_file_are_counted(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_kernel_of(&hand, "[TP00] 0", 0);
    add_kernel_of(&hand, "[TP00] 1", 5);
    add_kernel_of(&hand, "[TP01] 0", 10);
    add_kernel_of(&hand, "GPU 0", 20);
    hand_analyze(&hand);
    assert_int_equal(
        hand_i64(&hand, "trust", hand_find(&hand, "trust", "item", "merged_ranks"), "count"), 2);
    hand_end(&hand);
    hand_begin(&hand);
    add_kernel_of(&hand, "[TP00] 0", 0);
    add_kernel_of(&hand, "[TP01", 10);
    hand_analyze(&hand);
    assert_int_equal(trust_count(&hand.report, "merged_ranks"), 0);
    assert_int_equal(trust_count(&hand.report, "several_devices"), 2);
    hand_end(&hand);
}

// As in a JSON file of rocprofv3 that holds several.
static void devices_of_processes_read_as_one_are_not_those_of_one_process(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    trace_builder_recorder(hand.builder, RECORDER_ROCM);
    trace_builder_repair(hand.builder, REPAIR_SECOND_LIST, 100);
    add_kernel_of(&hand, "GPU 0", 0);
    add_kernel_of(&hand, "GPU 1", 10);
    hand_analyze(&hand);
    assert_int_equal(trust_count(&hand.report, "second-list"), 1);
    assert_int_equal(trust_count(&hand.report, "several_devices"), 0);
    hand_end(&hand);
}

// AMD's profilers have neither option.
static void trust_does_not_name_options_of_other_profilers(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    trace_builder_recorder(hand.builder, RECORDER_ROCM);
    hand_kernel(&hand, "ncclDevKernel_Generic_1", 7, 0, 10);
    hand_add(&hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                        .name = "[memory]",
                                        .address = 64,
                                        .bytes = 10,
                                        .device_type = 1});
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "memory_recorded");
    assert_null(strstr(hand_word(&hand, "trust", row, "detail"), "profile_memory"));
    row = hand_find(&hand, "trust", "item", "collectives_without_metadata");
    assert_null(strstr(hand_word(&hand, "trust", row, "effect"), "--include-blobs"));
    hand_end(&hand);
}

static void one_device_counts_by_itself(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "a", 7, 0, 10);
    hand_kernel(&hand, "b", 8, 0, 10);
    hand_analyze(&hand);
    assert_int_equal(trust_count(&hand.report, "several_devices"), 0);
    hand_end(&hand);
}

static void what_the_profiler_reported_is_said(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "a", 7, 0, 10);
    struct trace_setting messages = {.key = hand_text(&hand, TRACE_MESSAGES),
                                     .text = hand_text(&hand, "CUPTI could not be loaded"),
                                     .number = 3};
    assert_true(trace_builder_setting(hand.builder, &messages, &hand.err));
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "profiler_messages");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 3);
    assert_string_equal(hand_word(&hand, "trust", row, "detail"),
                        "errors and warnings of the profiler: CUPTI could not be loaded");
    for (size_t i = 0; i < hand_rows(&hand, "environment"); i++)
        assert_string_not_equal(hand_word(&hand, "environment", i, "key"), TRACE_MESSAGES);
    hand_end(&hand);
}

static void communication_says_that_waiting_is_part_of_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "ncclDevKernel_AllReduce(x)",
                                        .row = 20,
                                        .dur_ns = 100,
                                        .collective = "allreduce",
                                        .dtype = "Float",
                                        .group = "0",
                                        .in_elems = 8,
                                        .group_size = 2});
    hand_kernel(&hand, "ncclDevKernel_Generic(x)", 20, 200, 30);
    hand_analyze(&hand);
    assert_item(&hand, "waiting_included", 2, 130);
    assert_item(&hand, "collectives_without_metadata", 1, 30);
    hand_end(&hand);
}

// Compute runs beside a transfer that is recorded where it starts and where it is waited for.
static void transfers_known_by_their_waits_alone_have_no_overlapped_share(void **state)
{
    (void)state;
    static const char *const names[] = {"all-gather-start", "all-gather-done"};
    static const char *const collectives[] = {TRACE_ASYNC_START, "allgather"};
    for (size_t first = 0; first < 2; first++) { // without the start it is a plain collective
        struct hand hand;
        hand_begin(&hand);
        for (size_t i = first; i < 2; i++)
            hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                                .name = names[i],
                                                .row = 7,
                                                .begin_ns = (int64_t)i * 1000,
                                                .dur_ns = 100,
                                                .collective = collectives[i]});
        hand_kernel(&hand, "gemm", 8, 150, 900);
        hand_analyze(&hand);
        size_t row = hand_find(&hand, "breakdown", "scope", "trace");
        assert_true(hand_cell(&hand, "breakdown", row, "overlap_share")->null == !first);
        assert_true(has_item(&hand, "async_transfers") == !first);
        hand_end(&hand);
    }
}

// Nsight Systems has them so.
static void shapes_without_types_say_what_they_do_not_give(void **state)
{
    (void)state;
    static const char *const types[] = {NULL, "[\"float\"]"};
    for (size_t i = 0; i < 2; i++) {
        struct hand hand;
        hand_begin(&hand);
        hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                            .name = "aten::relu",
                                            .dur_ns = 50,
                                            .pid = 1,
                                            .row = 1,
                                            .dims = "[[8]]",
                                            .types = types[i]});
        add_launch(&hand, 10, 1);
        add_kernel(&hand, 7, 100, 30, 1);
        hand_analyze(&hand);
        assert_true(has_item(&hand, "untyped_shapes") == !types[i]);
        hand_end(&hand);
    }
}

static void a_process_without_a_rank_in_a_file_with_others_has_one_by_its_place(void **state)
{
    (void)state;
    for (int shares = 0; shares < 2; shares++) {
        struct hand hand;
        hand_begin(&hand);
        hand.options.shares_file = shares;
        add_kernel(&hand, 7, 100, 30, 0);
        hand_analyze(&hand);
        assert_true(has_item(&hand, "rank_by_order") == shares);
        hand_end(&hand);
    }
}

static void replayed_graphs_are_counted_by_device_event(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launch(&hand, 0, 1);
    add_launch(&hand, 10, 2);
    add_kernel(&hand, 7, 100, 10, 1);
    add_kernel(&hand, 7, 200, 10, 1);
    add_kernel(&hand, 7, 300, 10, 1);
    add_kernel(&hand, 7, 400, 10, 2);
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "graph_replay");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 3);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_launched_before_the_recording_differs_from_what_lost_its_launch),
        cmocka_unit_test(a_recording_without_launches_has_lost_them_all),
        cmocka_unit_test(steps_that_a_device_marks_are_not_unknown),
        cmocka_unit_test(launches_without_device_events_are_dropped_kernels),
        cmocka_unit_test(overhead_counts_once_and_only_within_the_window),
        cmocka_unit_test(overhead_beyond_a_twentieth_of_the_window_is_a_warning),
        cmocka_unit_test(kernels_before_their_launch_show_how_far_clocks_differ),
        cmocka_unit_test(options_that_slow_the_host_are_reported),
        cmocka_unit_test(time_outside_of_steps_has_a_line),
        cmocka_unit_test(a_step_pattern_that_fits_nothing_is_a_warning),
        cmocka_unit_test(steps_left_out_as_asked_say_so),
        cmocka_unit_test(steps_cover_the_window_without_marks),
        cmocka_unit_test(without_launches_steps_cannot_be_found),
        cmocka_unit_test(leading_steps_of_another_phase_are_a_warning),
        cmocka_unit_test(the_wait_before_the_only_step_is_a_warning),
        cmocka_unit_test(steps_of_optimizers_that_alternate_are_a_warning),
        cmocka_unit_test(steps_on_another_stream_are_a_warning),
        cmocka_unit_test(several_updates_in_one_step_are_said),
        cmocka_unit_test(ranks_merged_into_one_file_are_counted),
        cmocka_unit_test(devices_of_processes_read_as_one_are_not_those_of_one_process),
        cmocka_unit_test(trust_does_not_name_options_of_other_profilers),
        cmocka_unit_test(one_device_counts_by_itself),
        cmocka_unit_test(what_the_profiler_reported_is_said),
        cmocka_unit_test(communication_says_that_waiting_is_part_of_it),
        cmocka_unit_test(transfers_known_by_their_waits_alone_have_no_overlapped_share),
        cmocka_unit_test(shapes_without_types_say_what_they_do_not_give),
        cmocka_unit_test(a_process_without_a_rank_in_a_file_with_others_has_one_by_its_place),
        cmocka_unit_test(replayed_graphs_are_counted_by_device_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
