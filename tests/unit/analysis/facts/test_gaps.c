// SPDX-License-Identifier: Apache-2.0
// Every cause of an idle gap by hand, with the host event that explains it; and sums by cause that
// equal the idle time exactly, on generated and real traces.
#include "tests/unit/gap_hand.h"
#include "tests/unit/real_traces.h"

static void a_sync_that_lasts_into_the_gap_is_its_cause(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::item", span(900, 1210));
    add_host(&hand, EVENT_RUNTIME, MAIN, "cudaStreamSynchronize", span(910, 1200));
    end_with_gap(&hand, "sync", "cudaStreamSynchronize");
}

// The call returns 10 us into the gap; operators take 280 us more, launching the last 10. The time
// it waited before the gap is taken from the operators: with 135 us they have as much left.
static void what_the_host_could_have_done_during_a_sync_counts_as_its_time(void **state)
{
    (void)state;
    for (int64_t begin_us = 865; begin_us <= 866; begin_us++) {
        struct hand hand;
        bool sync = begin_us == 865;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_RUNTIME, MAIN, "hipDeviceSynchronize", span(begin_us, 1010));
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(1010, 1300));
        end_with_gap(&hand, sync ? "sync" : "host_compute",
                     sync ? "hipDeviceSynchronize" : "aten::mm");
    }
}

static void a_sync_that_began_in_the_gap_found_nothing_to_wait_for(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_host(&hand, EVENT_RUNTIME, MAIN, "cudaDeviceSynchronize", span(1000, 1250));
    end_with_gap(&hand, "host_compute", "cudaDeviceSynchronize");
}

static void a_sync_of_another_thread_is_no_cause(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_host(&hand, EVENT_RUNTIME, AUTOGRAD, "cudaDeviceSynchronize", span(900, 1250));
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(990, 1300));
    end_with_gap(&hand, "host_compute", "aten::mm");
}

static void loading_data_is_known_by_annotation_operator_or_frame(void **state)
{
    (void)state;
    static const struct {
        enum event_kind kind;
        const char *name;
        bool loads;
    } cases[] = {
        {EVENT_ANNOTATION, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", true},
        {EVENT_CPU_OP, "aten::_pin_memory", true},
        {EVENT_PYTHON, "torch/utils/data/dataloader.py(631): __next__", true},
        {EVENT_PYTHON, "nvidia/dali/plugin/base_iterator.py(80): __next__", true},
        {EVENT_PYTHON, "dataloader_study/train.py(12): main", false}, // a folder proves nothing
        {EVENT_ANNOTATION, "data_loading", true},                     // as users name their ranges
        {EVENT_ANNOTATION, "fetch_batch", true},
        {EVENT_ANNOTATION, "next(data_iter)", true},
        {EVENT_ANNOTATION, "forward", false},
        {EVENT_RUNTIME, "cudaDataLoader", false}, // no operator, annotation or frame
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, cases[i].kind, MAIN, cases[i].name, span(1010, 1280));
        if (cases[i].loads) // what it does inside does not matter
            add_host(&hand, EVENT_CPU_OP, MAIN, "aten::stack", span(1020, 1270));
        end_with_gap(&hand, cases[i].loads ? "data_loading" : "host_compute", cases[i].name);
    }
}

static void the_outermost_loader_counts_until_it_ends(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_host(&hand, EVENT_PYTHON, MAIN, "dataloader.py(1): __next__", span(1010, 1280));
    add_host(&hand, EVENT_PYTHON, MAIN, "dataloader.py(9): _next_data", span(1020, 1040));
    end_with_gap(&hand, "data_loading", "dataloader.py(1): __next__");
    begin_with_gap(&hand, 1290); // rows of a damaged file overlap
    add_host(&hand, EVENT_ANNOTATION, MAIN, "dataloader", span(1000, 1100));
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(1090, 1290));
    end_with_gap(&hand, "host_compute", "aten::mm");
}

static void allocating_calls_are_known_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool allocates;
    } cases[] = {
        {"cudaMalloc", true},       {"hipFree", true},        {"cudaHostAlloc", true},
        {"cuMemCreate", true},      {"hipHostMalloc", true},  {"cuMemAlloc_v2", true},
        {"cudaMallocAsync", false}, {"cudaFreeAsync", false}, {"cudaFuncGetAttributes", false},
        {"Malloc", false},          {"cudamalloc", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::empty", span(1000, 1290));
        add_host(&hand, EVENT_RUNTIME, MAIN, cases[i].name, span(1010, 1280));
        end_with_gap(&hand, cases[i].allocates ? "allocator" : "host_compute", cases[i].name);
    }
}

static void an_operator_named_like_a_call_is_no_call(void **state)
{
    (void)state;
    static const char *const names[] = {"cudaMalloc", "cudaDeviceSynchronize"};
    for (int i = 0; i < 2; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_CPU_OP, MAIN, names[i], span(900, 1280));
        end_with_gap(&hand, "host_compute", names[i]);
    }
}

static void blocking_copies_synchronize_and_asynchronous_ones_do_not(void **state)
{
    (void)state;
    static const char *const names[] = {
        "cudaMemcpy",  "hipMemcpyWithStream",       "cuEventSynchronize", "urQueueFinish",
        "urEventWait", "zeCommandQueueSynchronize", "cudaMemcpyAsync",    "urEnqueueUSMMemcpy"};
    for (size_t i = 0; i < 8; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_RUNTIME, MAIN, names[i], span(900, 1280));
        end_with_gap(&hand, i < 6 ? "sync" : "host_compute", names[i]);
    }
}

// A value read from the device: the copy waits for the kernel before it, and the call for the copy,
// so that the call after it finds nothing to wait for.
static void a_copy_to_pageable_memory_waits_whatever_its_call_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *copy;
        int64_t returned_us;
        bool waits;
    } cases[] = {
        {"Memcpy DtoH (Device -> Pageable)", 1005, true},
        {"Memcpy DtoH (Device -> Pinned)", 1005, false},
        {"Memcpy DtoH (Device -> Pageable)", 505, false}, // the copy ends at 1002
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                            .name = cases[i].copy,
                                            .begin_ns = 1001 * US,
                                            .dur_ns = US,
                                            .row = COMPUTE,
                                            .correlation = 3});
        hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                            .name = "cudaMemcpyAsync",
                                            .begin_ns = 500 * US,
                                            .dur_ns = (cases[i].returned_us - 500) * US,
                                            .pid = 1,
                                            .row = MAIN,
                                            .correlation = 3});
        add_host(&hand, EVENT_RUNTIME, MAIN, "cudaStreamSynchronize", span(1006, 1008));
        hand_facts(&hand);
        assert_gap(&hand, 1002, cases[i].waits ? "sync" : "host_compute",
                   cases[i].waits ? "cudaMemcpyAsync" : NULL);
        hand_end(&hand);
    }
}

// op   [1000,1290)      innermost in [1000,1060) [1130,1190) [1230,1290): 180 us in pieces
// sub  [1060,1130)      70 us in one
// sub  [1190,1230)      40 us
static void the_host_event_is_the_innermost_with_most_time(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_CPU_OP, MAIN, "op", span(1000, 1290));
        add_host(&hand, EVENT_CPU_OP, MAIN, "sub", span(1060, 1130));
        add_host(&hand, EVENT_CPU_OP, MAIN, "sub", span(1190, 1230));
        if (other) // a frame inside takes 120 us of it, and 30 us of the first sub
            add_host(&hand, EVENT_PYTHON, MAIN, "loss.py(3): log", span(1100, 1290));
        end_with_gap(&hand, "host_compute", other ? "loss.py(3): log" : "op");
    }
}

// A call of the operating system in [1010, 1280), with or without an operator around or in it.
static void a_call_of_the_operating_system_is_the_host_event_it_fills(void **state)
{
    (void)state;
    static const struct {
        struct stretch op; // of no length: none
        const char *host_event;
    } cases[] = {
        {{0, 0}, "read"}, {{900, 1290}, "read"}, {{1010, 1290}, "read"}, {{1020, 1280}, "op"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_OS_CALL, MAIN, "read", span(1010, 1280));
        add_host(&hand, EVENT_OS_CALL, AUTOGRAD, "poll", span(0, 2000));
        if (cases[i].op.end)
            add_host(&hand, EVENT_CPU_OP, MAIN, "op", cases[i].op);
        end_with_gap(&hand, "host_compute", cases[i].host_event);
    }
}

static void a_thread_of_which_nothing_is_recorded_computed(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    end_with_gap(&hand, "host_compute", NULL);
}

// The backward's first launch comes from a thread that had nothing to do before; what the previous
// launching thread did explains the gap. Annotations alone do not contradict that.
static void where_the_launching_thread_is_silent_the_one_before_speaks(void **state)
{
    (void)state;
    for (int loads = 0; loads < 2; loads++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
        add_work(&hand, on(0, COMPUTE), span(1300, 1400), by(AUTOGRAD, 1290));
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::cross_entropy_loss", span(990, 1280));
        add_host(&hand, EVENT_ANNOTATION, AUTOGRAD, loads ? "pin_memory" : "backward",
                 span(0, 2000));
        end_with_gap(&hand, loads ? "data_loading" : "host_compute",
                     loads ? "pin_memory" : "aten::cross_entropy_loss");
    }
}

static void a_launch_that_spans_the_gap_or_is_followed_by_a_delay_is_overhead(void **state)
{
    (void)state;
    struct hand hand;
    static const struct {
        int64_t begin_us, end_us; // of the launch; the kernel starts at 1030
        const char *cause;
    } cases[] = {
        {1002, 1004, "launch_overhead"},
        {1002, 1029, "launch_overhead"},
        {1014, 1016, "launch_overhead"}, // 14 us before the launch, 16 of it and after
        {1016, 1018, "host_compute"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "k",
                                            .begin_ns = 1030 * US,
                                            .dur_ns = US,
                                            .row = COMPUTE,
                                            .correlation = 5});
        hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                            .name = "cudaLaunchKernel",
                                            .begin_ns = cases[i].begin_us * US,
                                            .dur_ns = (cases[i].end_us - cases[i].begin_us) * US,
                                            .pid = 1,
                                            .row = MAIN,
                                            .correlation = 5});
        hand_facts(&hand);
        bool launches = cases[i].cause[0] == 'l';
        assert_gap(&hand, 1000, cases[i].cause, launches ? "cudaLaunchKernel" : NULL);
        hand_end(&hand);
    }
}

static void a_gap_after_a_queued_launch_is_of_the_device(void **state)
{
    (void)state;
    static const struct {
        int64_t launch_us, begin_us;
        const char *cause, *host_event;
    } cases[] = {
        {900, 1029, "dispatch", NULL},                      // under 30 us
        {900, 1030, "unknown", NULL},                       // 30 us: neither startup nor more
        {900, 1031, "unrecorded", NULL},                    // over 30 us
        {993, 1006, "launch_overhead", "cudaLaunchKernel"}, // returned 5 us before the gap of 6
        {993, 1005, "dispatch", NULL},                      // 5 and 5
        {997, 1028, "launch_overhead", "cudaLaunchKernel"}, // 29 us after the launch
        {997, 1029, "dispatch", NULL},                      // 30 us after it
        {998, 1029, "launch_overhead", "cudaLaunchKernel"}, // returned as the gap started
        {999, 1031, "launch_overhead", "cudaLaunchKernel"}, // still ran when it started
        {998, 1300, "unrecorded", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
        add_work(&hand, on(0, COMPUTE), span(cases[i].begin_us, 1400),
                 by(MAIN, cases[i].launch_us));
        hand_facts(&hand);
        assert_gap(&hand, 1000, cases[i].cause, cases[i].host_event);
        hand_end(&hand);
    }
}

static void an_event_queued_behind_a_wait_waits_for_an_event(void **state)
{
    (void)state;
    for (int behind = 0; behind < 3; behind++) {
        struct hand hand;
        begin_with_short_gap(&hand, 900);
        if (behind == 2) // another launch on the thread took the wait
            add_work(&hand, on(0, COMM), span(100, 950), by(MAIN, 850));
        add_host(&hand, EVENT_RUNTIME, MAIN, behind ? "cudaStreamWaitEvent" : "cudaEventRecord",
                 span(800, 810));
        hand_facts(&hand);
        assert_gap(&hand, 1000, behind == 1 ? "event_wait" : "dispatch",
                   behind == 1 ? "cudaStreamWaitEvent" : NULL);
        hand_end(&hand);
    }
}

static void a_delay_after_a_late_launch_is_a_wait_when_one_was_asked_for(void **state)
{
    (void)state;
    for (int64_t launch_us = 1268; launch_us <= 1269; launch_us++) { // 30 and 29 us of delay
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, 1265), by(MAIN, -500));
        add_work(&hand, on(0, COMPUTE), span(1300, 1400), by(MAIN, launch_us));
        add_host(&hand, EVENT_RUNTIME, MAIN, "hipStreamWaitEvent", span(1000, 1003));
        hand_facts(&hand);
        if (launch_us == 1268)
            assert_gap(&hand, 1265, "event_wait", "hipStreamWaitEvent");
        else
            assert_gap(&hand, 1265, "launch_overhead", "cudaLaunchKernel");
        hand_end(&hand);
    }
}

static void a_recorded_wait_counts_for_its_own_stream(void **state)
{
    (void)state;
    static const struct {
        int64_t stream, begin_us;
        bool counts;
    } cases[] = {
        {COMPUTE, 801, true},
        {COMPUTE + 1, 801, false},
        {COMPUTE, -501, false}, // it was for the kernel before, launched at -500
        {COMPUTE, 901, false},  // it came after the launch
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin_with_short_gap(&hand, 900);
        add_host(&hand, EVENT_RUNTIME, MAIN, "cudaStreamWaitEvent", span(800, 810));
        hand_add(&hand, (struct hand_event){.kind = EVENT_SYNC,
                                            .name = "Stream Wait Event",
                                            .begin_ns = cases[i].begin_us * US,
                                            .dur_ns = US,
                                            .row = cases[i].stream});
        hand_facts(&hand);
        assert_gap(&hand, 1000, cases[i].counts ? "event_wait" : "dispatch",
                   cases[i].counts ? "Stream Wait Event" : NULL);
        hand_end(&hand);
    }
}

// The communication stream is free and its kernel launched at 500; the compute stream runs until
// 1000, the kernel starts at 1020.
static void what_stood_first_until_another_stream_ended_waited_for_it(void **state)
{
    (void)state;
    static const int64_t launched[] = {500, 967, 969}; // 969 returns 29 us before the gap
    for (size_t i = 0; i < 3; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMM), span(0, 900), by(MAIN, -500));
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -400));
        add_work(&hand, on(0, COMM), span(1020, 1400), by(MAIN, launched[i]));
        hand_facts(&hand);
        assert_gap(&hand, 1000, i < 2 ? "event_wait" : "dispatch", NULL);
        hand_end(&hand);
    }
}

static void an_event_behind_another_of_its_stream_did_not_stand_first(void **state)
{
    (void)state;
    for (int64_t end_us = 970; end_us <= 971; end_us++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMM), span(0, end_us), by(MAIN, -500));
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -400));
        add_work(&hand, on(0, COMM), span(1020, 1400), by(MAIN, 500));
        hand_facts(&hand);
        assert_gap(&hand, 1000, end_us == 970 ? "event_wait" : "dispatch", NULL);
        hand_end(&hand);
    }
}

// Events on one stream may overlap a little; the stream itself was busy.
static void an_event_behind_one_that_overlaps_did_not_wait_for_another_stream(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
    add_work(&hand, on(0, COMPUTE), span(950, 960), by(MAIN, -400));
    add_work(&hand, on(0, COMPUTE), span(1020, 1400), by(MAIN, 500));
    hand_facts(&hand);
    assert_gap(&hand, 1000, "dispatch", NULL);
    hand_end(&hand);
}

static void gaps_between_the_events_of_one_launch_are_the_graphs(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 3; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "k",
                                            .begin_ns = i * 100 * US,
                                            .dur_ns = 40 * US,
                                            .row = COMPUTE,
                                            .correlation = 5});
    add_work(&hand, on(0, COMM), span(150, 160), by(MAIN, 105)); // in between, of another launch
    hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                        .name = "hipGraphLaunch",
                                        .begin_ns = -50 * US,
                                        .dur_ns = 400 * US,
                                        .pid = 1,
                                        .row = MAIN,
                                        .correlation = 5});
    hand_facts(&hand);
    assert_int_equal(hand.facts.gaps.count, 3);
    assert_gap(&hand, 40, "graph_replay", "hipGraphLaunch");
    assert_gap(&hand, 140, "event_wait", NULL); // first in its stream until then
    assert_gap(&hand, 160, "graph_replay", "hipGraphLaunch");
    hand_end(&hand);
}

static void overhead_of_the_profiler_counts_before_what_the_host_did(void **state)
{
    (void)state;
    static const char *const events[] = {"aten::mm", "cudaMalloc"};
    for (int i = 0; i < 2; i++) { // a call that allocates is more specific
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, i ? EVENT_RUNTIME : EVENT_CPU_OP, MAIN, events[i], span(990, 1290));
        add_host(&hand, EVENT_OVERHEAD, -1, "Instrumentation", span(1050, 1150));
        add_host(&hand, EVENT_OVERHEAD, -2, "Activity Buffer Request", span(1100, 1210));
        end_with_gap(&hand, i ? "allocator" : "profiler", i ? "cudaMalloc" : "Instrumentation");
    }
}

static void a_gap_before_an_event_without_launch_is_unknown_or_the_profilers(void **state)
{
    (void)state;
    for (int64_t end_us = 1149; end_us <= 1150; end_us++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
        hand_kernel(&hand, "k", COMPUTE, 1300 * US, US);
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(1000, 1290));
        add_host(&hand, EVENT_OVERHEAD, -1, "Resource", span(1000, end_us));
        end_with_gap(&hand, end_us == 1150 ? "profiler" : "unknown",
                     end_us == 1150 ? "Resource" : NULL);
    }
}

static void an_event_of_no_length_parts_a_gap(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_work(&hand, on(0, COMPUTE), span(1100, 1100), by(MAIN, 1080));
    hand_facts(&hand);
    assert_int_equal(hand.facts.gaps.count, 2);
    assert_int_equal(gap_at(&hand, 1000)->end_ns, 1100 * US);
    assert_int_equal(gap_at(&hand, 1100)->end_ns, 1300 * US);
    assert_int_equal(parts_idle_ns(&hand.facts.whole), 300 * US);
    hand_end(&hand);
}

// Device 0: [0,100) and [400,500); device 1: [50,200). The end of device 1 is one last gap.
static void each_device_has_gaps_of_its_own(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_work(&hand, on(0, COMPUTE), span(0, 100), by(MAIN, -50));
    add_work(&hand, on(0, COMPUTE), span(400, 500), by(MAIN, 390));
    add_work(&hand, on(1, COMPUTE), span(50, 200), by(MAIN, 10));
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(35, 400));
    hand_analyze(&hand);
    static const struct {
        const char *device, *cause;
        int64_t begin_us, dur_us;
    } expected[] = {
        {NULL, "host_compute", 200, 200},
        {"0", "host_compute", 100, 300},
        {"1", "unknown", 200, 300},
        {"1", "launch_overhead", 0, 50},
    };
    assert_int_equal(hand_rows(&hand, "idle_gaps"), 4);
    for (size_t i = 0; i < 4; i++) {
        const char *device = hand_word(&hand, "idle_gaps", i, "device");
        assert_true(device == expected[i].device || !strcmp(device, expected[i].device));
        assert_string_equal(hand_word(&hand, "idle_gaps", i, "cause"), expected[i].cause);
        assert_int_equal(hand_i64(&hand, "idle_gaps", i, "begin_ns"), expected[i].begin_us * US);
        assert_int_equal(hand_i64(&hand, "idle_gaps", i, "dur_ns"), expected[i].dur_us * US);
    }
    hand_end(&hand);
}

static void each_device_has_its_part_of_the_profilers_overhead(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t device = 0; device < 2; device++)
        for (int64_t i = 0; i < 2; i++)
            hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                                .name = "k",
                                                .begin_ns = i * 200 * US,
                                                .dur_ns = 100 * US,
                                                .pid = device,
                                                .row = COMPUTE});
    add_host(&hand, EVENT_OVERHEAD, -1, "Resource", span(100, 180));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "idle_causes"), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(hand_word(&hand, "idle_causes", i, "cause"), "profiler");
        assert_int_equal(hand_i64(&hand, "idle_causes", i, "total_ns"), 100 * US);
    }
    hand_end(&hand);
}

static void a_cause_names_the_host_event_of_most_of_its_time(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_work(&hand, on(0, COMPUTE), span(1500, 1600), by(MAIN, 1490));
    add_work(&hand, on(0, COMPUTE), span(1850, 1900), by(MAIN, 1845));
    add_host(&hand, EVENT_RUNTIME, MAIN, "cudaMalloc", span(1000, 1290));
    add_host(&hand, EVENT_RUNTIME, MAIN, "cudaFree", span(1400, 1490));
    add_host(&hand, EVENT_RUNTIME, MAIN, "cudaFree", span(1600, 1845));
    hand_analyze(&hand);
    assert_string_equal(hand_word(&hand, "idle_causes", 0, "host_event"), "cudaFree"); // 350
    assert_int_equal(hand_i64(&hand, "idle_causes", 0, "total_ns"), 650 * US);
    assert_int_equal(hand_i64(&hand, "idle_causes", 0, "median_ns"), 250 * US);
    hand_end(&hand);
}

static void a_gap_tells_what_surrounds_it(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 1290);
    add_host(&hand, EVENT_ANNOTATION, MAIN, "ProfilerStep#4", span(-600, 1100));
    add_host(&hand, EVENT_ANNOTATION, MAIN, "ProfilerStep#5", span(1100, 1500));
    add_host(&hand, EVENT_PYTHON, MAIN, "train.py(7): step", span(-600, 1500));
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::item", span(900, 1280));
    add_host(&hand, EVENT_RUNTIME, MAIN, "cudaStreamSynchronize", span(910, 1270));
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(1285, 1295));
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "idle_gaps"), 1);
    assert_int_equal(hand_i64(&hand, "idle_gaps", 0, "step"), 5); // the one that waited
    static const char *const texts[][2] = {
        {"cause", "sync"},        {"host_event", "cudaStreamSynchronize"},
        {"host_kind", "call"},    {"host_op", "aten::item"},
        {"thread", "1"},          {"host_frame", "train.py(7): step"},
        {"before", "k"},          {"after", "k"},
        {"after_op", "aten::mm"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(hand_word(&hand, "idle_gaps", 0, texts[i][0]), texts[i][1]);
    assert_int_equal(hand_i64(&hand, "idle_gaps", 0, "launch_delay_ns"), 8 * US);
    hand_end(&hand);
}

// Three steps of 1 ms with gaps of 300, 200 and 100 us with different causes.
static void steps_have_their_idle_time_by_cause(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    static const char *const marks[] = {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"};
    for (int64_t s = 0; s < 3; s++) {
        int64_t at = 1000 * s, idle = 300 - 100 * s;
        add_host(&hand, EVENT_ANNOTATION, MAIN, marks[s], span(at - 100, at + 899));
        add_work(&hand, on(0, COMPUTE), span(at, at + 500), by(MAIN, at - 90));
        add_work(&hand, on(0, COMPUTE), span(at + 500 + idle, at + 1000),
                 by(MAIN, at + 490 + idle));
        if (s != 1)
            add_host(&hand, EVENT_CPU_OP, MAIN, "aten::pin_memory",
                     span(at + 400, at + 490 + idle));
    }
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "steady_steps"), 2);
    size_t loading = hand_find(&hand, "step_stats", "metric", "idle_data_loading");
    size_t computing = hand_find(&hand, "step_stats", "metric", "idle_host_compute");
    assert_int_equal(hand_i64(&hand, "step_stats", loading, "max_ns"), 100 * US);
    assert_int_equal(hand_i64(&hand, "step_stats", loading, "min_ns"), 0);
    assert_int_equal(hand_i64(&hand, "step_stats", computing, "max_ns"), 200 * US);
    size_t cause = hand_find(&hand, "idle_causes", "cause", "data_loading");
    assert_int_equal(hand_i64(&hand, "idle_causes", cause, "gaps"), 2);
    assert_int_equal(hand_i64(&hand, "idle_causes", cause, "total_ns"), 400 * US);
    assert_int_equal(hand_i64(&hand, "idle_causes", cause, "steady_ns"), 100 * US);
    assert_int_equal(hand_i64(&hand, "idle_causes", cause, "max_ns"), 300 * US);
    assert_string_equal(hand_word(&hand, "idle_causes", cause, "host_event"), "aten::pin_memory");
    assert_string_equal(hand_word(&hand, "idle_causes", cause, "bar"), "idle_host_wait");
    hand_end(&hand);
}

// Idle time of a row of the breakdown by bar.
struct idle {
    int64_t host_ns, other_ns;
};

static struct idle sum_causes(const struct hand *hand, const char *device, const char *column)
{
    struct idle idle = {0};
    for (size_t i = 0; i < hand_rows(hand, "idle_causes"); i++) {
        const char *its = hand_word(hand, "idle_causes", i, "device");
        if (its != device && (!its || !device || strcmp(its, device) != 0))
            continue;
        const char *bar = hand_word(hand, "idle_causes", i, "bar");
        int64_t ns = hand_i64(hand, "idle_causes", i, column);
        *(strcmp(bar, "idle_host_wait") == 0 ? &idle.host_ns : &idle.other_ns) += ns;
    }
    return idle;
}

static void assert_sums(const struct hand *hand)
{
    int64_t devices = 0;
    for (size_t i = 0; i < hand_rows(hand, "breakdown"); i++) {
        const char *device = hand_word(hand, "breakdown", i, "device");
        bool steady = strcmp(hand_word(hand, "breakdown", i, "scope"), "steady") == 0;
        devices += device != NULL;
        if (device && hand_i64(hand, "summary", 0, "devices") == 1)
            device = NULL; // a single device has no rows besides those of all
        struct idle idle = sum_causes(hand, device, steady ? "steady_ns" : "total_ns");
        assert_int_equal(idle.host_ns, hand_i64(hand, "breakdown", i, "idle_host_wait_ns"));
        assert_int_equal(idle.other_ns, hand_i64(hand, "breakdown", i, "idle_other_ns") +
                                            hand_i64(hand, "breakdown", i, "unrecorded_ns"));
    }
    if (hand_rows(hand, "breakdown"))
        assert_int_equal(devices, hand_i64(hand, "summary", 0, "devices"));
}

static void sums_by_cause_equal_the_idle_time_of_every_real_trace(void **state)
{
    (void)state;
    real_traces_each(assert_sums);
}

static void devices_past_the_first_16_have_gaps_without_a_cause(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t device = 0; device < 18; device++) {
        add_work(&hand, on(device, COMPUTE), span(0, 100), by(MAIN, -50));
        add_work(&hand, on(device, COMPUTE), span(400, 500), by(MAIN, 390));
    }
    hand_analyze(&hand);
    assert_sums(&hand);
    assert_int_equal(hand_rows(&hand, "idle_causes"), 19);
    for (size_t i = 0; i < 19; i++)
        assert_string_equal(hand_word(&hand, "idle_causes", i, "cause"),
                            i < 17 ? "host_compute" : "unknown");
    hand_end(&hand);
}

static uint64_t draw(uint64_t *random, uint64_t limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % limit;
}

// Overlapping rows of all kinds, several threads and devices, graphs, zero lengths.
static void add_chaos(struct hand *hand, uint64_t *random)
{
    static const char *const names[] = {"cudaMalloc",
                                        "hipStreamSynchronize",
                                        "aten::mm",
                                        "k",
                                        "dataloader.py(1): __next__",
                                        "cudaStreamWaitEvent",
                                        "ProfilerStep#1",
                                        "ProfilerStep#2",
                                        "ProfilerStep#3",
                                        "Driver Compiler"};
    static const enum event_kind kinds[] = {EVENT_CPU_OP,  EVENT_ANNOTATION, EVENT_PYTHON,
                                            EVENT_RUNTIME, EVENT_DRIVER,     EVENT_KERNEL,
                                            EVENT_KERNEL,  EVENT_OVERHEAD,   EVENT_SYNC};
    for (int i = 0; i < 150; i++)
        hand_add(hand, (struct hand_event){.kind = kinds[draw(random, 9)],
                                           .name = names[draw(random, 10)],
                                           .begin_ns = (int64_t)draw(random, 900) * US,
                                           .dur_ns = (int64_t)draw(random, 40) * US,
                                           .pid = (int64_t)draw(random, 2),
                                           .row = (int64_t)draw(random, 2),
                                           .correlation = (int64_t)draw(random, 40)});
}

// One bit per cause in the report.
static unsigned causes_seen(const struct hand *hand)
{
    unsigned seen = 0;
    for (size_t i = 0; i < hand_rows(hand, "idle_causes"); i++)
        for (unsigned c = 0; c < IDLE_CAUSE_COUNT; c++)
            seen |= (unsigned)!strcmp(hand_word(hand, "idle_causes", i, "cause"),
                                      idle_cause_word((enum idle_cause)c))
                    << c;
    return seen;
}

static void sums_by_cause_equal_the_idle_time_of_random_traces(void **state)
{
    (void)state;
    uint64_t random = 7;
    unsigned seen = 0;
    for (int round = 0; round < 60; round++) {
        struct hand hand;
        hand_begin(&hand);
        add_chaos(&hand, &random);
        hand_analyze(&hand);
        assert_sums(&hand);
        seen |= causes_seen(&hand);
        hand_end(&hand);
    }
    assert_int_equal(seen, (1u << IDLE_CAUSE_COUNT) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sync_that_lasts_into_the_gap_is_its_cause),
        cmocka_unit_test(what_the_host_could_have_done_during_a_sync_counts_as_its_time),
        cmocka_unit_test(a_sync_that_began_in_the_gap_found_nothing_to_wait_for),
        cmocka_unit_test(a_sync_of_another_thread_is_no_cause),
        cmocka_unit_test(loading_data_is_known_by_annotation_operator_or_frame),
        cmocka_unit_test(the_outermost_loader_counts_until_it_ends),
        cmocka_unit_test(allocating_calls_are_known_by_name),
        cmocka_unit_test(an_operator_named_like_a_call_is_no_call),
        cmocka_unit_test(blocking_copies_synchronize_and_asynchronous_ones_do_not),
        cmocka_unit_test(a_copy_to_pageable_memory_waits_whatever_its_call_is_named),
        cmocka_unit_test(the_host_event_is_the_innermost_with_most_time),
        cmocka_unit_test(a_call_of_the_operating_system_is_the_host_event_it_fills),
        cmocka_unit_test(a_thread_of_which_nothing_is_recorded_computed),
        cmocka_unit_test(where_the_launching_thread_is_silent_the_one_before_speaks),
        cmocka_unit_test(a_launch_that_spans_the_gap_or_is_followed_by_a_delay_is_overhead),
        cmocka_unit_test(a_gap_after_a_queued_launch_is_of_the_device),
        cmocka_unit_test(an_event_queued_behind_a_wait_waits_for_an_event),
        cmocka_unit_test(a_delay_after_a_late_launch_is_a_wait_when_one_was_asked_for),
        cmocka_unit_test(a_recorded_wait_counts_for_its_own_stream),
        cmocka_unit_test(what_stood_first_until_another_stream_ended_waited_for_it),
        cmocka_unit_test(an_event_behind_another_of_its_stream_did_not_stand_first),
        cmocka_unit_test(an_event_behind_one_that_overlaps_did_not_wait_for_another_stream),
        cmocka_unit_test(gaps_between_the_events_of_one_launch_are_the_graphs),
        cmocka_unit_test(overhead_of_the_profiler_counts_before_what_the_host_did),
        cmocka_unit_test(a_gap_before_an_event_without_launch_is_unknown_or_the_profilers),
        cmocka_unit_test(an_event_of_no_length_parts_a_gap),
        cmocka_unit_test(each_device_has_gaps_of_its_own),
        cmocka_unit_test(each_device_has_its_part_of_the_profilers_overhead),
        cmocka_unit_test(a_cause_names_the_host_event_of_most_of_its_time),
        cmocka_unit_test(a_gap_tells_what_surrounds_it),
        cmocka_unit_test(steps_have_their_idle_time_by_cause),
        cmocka_unit_test(devices_past_the_first_16_have_gaps_without_a_cause),
        cmocka_unit_test(sums_by_cause_equal_the_idle_time_of_random_traces),
        cmocka_unit_test(sums_by_cause_equal_the_idle_time_of_every_real_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
