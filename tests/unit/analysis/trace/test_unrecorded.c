// SPDX-License-Identifier: Apache-2.0
// Gaps in which the device had work missing from the recording, what merely looks like that, and
// cold starts.
#include "analysis/report/trust.h"
#include "tests/unit/gap_hand.h"

#include <stdio.h>

static void call(struct hand *hand, const char *name, struct stretch when)
{
    add_host(hand, EVENT_RUNTIME, MAIN, name, when);
}

// A kernel of 100 us and the call that launched it.
static void add_launched(struct hand *hand, const char *kernel, int64_t begin_us,
                         struct stretch launch)
{
    int64_t correlation = 100000 + begin_us;
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = kernel,
                                       .begin_ns = begin_us * US,
                                       .dur_ns = 100 * US,
                                       .row = COMPUTE,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = launch.begin * US,
                                       .dur_ns = (launch.end - launch.begin) * US,
                                       .pid = 1,
                                       .row = MAIN,
                                       .correlation = correlation});
}

// The stream's next kernel was launched at 900 and starts at 1300. The work it was queued after had
// ended at 1000, so a wait for another stream explains nothing.
static void a_wait_for_work_that_has_ended_holds_nothing(void **state)
{
    (void)state;
    for (int wait = 0; wait < 2; wait++) {
        struct hand hand;
        begin_with_gap(&hand, 900);
        if (wait)
            call(&hand, "hipStreamWaitEvent", span(800, 810));
        end_with_gap(&hand, "unrecorded", NULL);
    }
}

// The next kernel was launched late, but one on another stream had been launched at 702 and nothing
// launched before it was left.
static void what_another_stream_has_pending_tells_it_too(void **state)
{
    (void)state;
    for (int pending = 0; pending < 2; pending++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        if (pending)
            add_work(&hand, on(0, COMM), span(1350, 1500), by(AUTOGRAD, 700));
        end_with_gap(&hand, pending ? "unrecorded" : "host_compute", NULL);
    }
}

// Up to 149 us until the launch returns, then 149 and more in which it is pending.
static void the_longer_part_of_a_gap_decides(void **state)
{
    (void)state;
    for (int64_t launch_us = 1147; launch_us <= 1149; launch_us++) {
        struct hand hand;
        begin_with_gap(&hand, launch_us); // returns 2 us later
        end_with_gap(&hand, launch_us < 1149 ? "unrecorded" : "host_compute", NULL);
    }
}

// A kernel without a launch and with a correlation below that of every call was launched before the
// recording, whose first launch started at -500; with a higher one nothing is known.
static void what_was_launched_before_the_recording_is_pending(void **state)
{
    (void)state;
    static const struct {
        int64_t correlation;
        const char *cause;
    } cases[] = {{1, "unrecorded"}, {1 << 30, "unknown"}, {0, "unknown"}};
    for (size_t i = 0; i < 3; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMM), span(10, 1000), by(MAIN, -500));
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "k",
                                            .begin_ns = 1300 * US,
                                            .dur_ns = US,
                                            .row = COMPUTE,
                                            .correlation = cases[i].correlation});
        end_with_gap(&hand, cases[i].cause, NULL);
    }
}

// The callback of a host function, or a value written by another process, may hold it up as long.
static void a_wait_for_the_host_or_another_process_holds(void **state)
{
    (void)state;
    static const char *const calls[] = {"cudaLaunchHostFunc", "cuStreamWaitValue32_v2",
                                        "hipStreamWaitValue64", "hipStreamAddCallback"};
    for (size_t i = 0; i < 4; i++) {
        struct hand hand;
        begin_with_gap(&hand, 900);
        call(&hand, calls[i], span(800, 810));
        end_with_gap(&hand, "event_wait", calls[i]);
        begin_with_gap(&hand, 900);
        call(&hand, calls[i], span(-600, -590)); // the previous kernel waited for that
        end_with_gap(&hand, "unrecorded", NULL);
    }
}

// A stream runs in launch order. If the kernel launched at 500 starts after one launched at 1285,
// one of the two links is wrong.
static void a_launch_out_of_order_proves_nothing(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
    add_work(&hand, on(0, COMPUTE), span(1300, 1400), by(MAIN, 1290));
    add_work(&hand, on(0, COMPUTE), span(1500, 1600), by(MAIN, 500));
    hand_facts(&hand);
    assert_gap(&hand, 1000, "host_compute", NULL);
    hand_end(&hand);
}

// Device 1 may wait for device 0, which is busy.
static void one_device_may_wait_for_another(void **state)
{
    (void)state;
    for (int busy = 0; busy < 2; busy++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, busy ? 1295 : 1000), by(MAIN, -400));
        add_work(&hand, on(1, COMPUTE), span(0, 1000), by(MAIN, -500));
        add_work(&hand, on(1, COMPUTE), span(1300, 1400), by(MAIN, 900));
        hand_facts(&hand);
        assert_int_equal(hand.facts.gpus[1].number, 1);
        const struct gap *gap = &hand.facts.gpu_gaps[1].gaps[0];
        assert_int_equal(gap->begin_ns, 1000 * US);
        assert_string_equal(idle_cause_word((enum idle_cause)gap->cause),
                            busy ? "unknown" : "unrecorded");
        hand_end(&hand);
    }
}

// Every kernel starts 5 ms after its launch and is followed by a gap of 100 us: the device's clock
// is late. It is not if launches run ahead by ever more.
static void clocks_that_disagree_leave_nothing_pending(void **state)
{
    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        struct hand hand;
        hand_begin(&hand);
        for (int64_t i = 0; i < 40; i++)
            add_launched(&hand, "k", 5000 + i * 200,
                         span(i * (ahead ? 100 : 200), i * (ahead ? 100 : 200) + 5));
        hand_facts(&hand);
        for (uint32_t g = 0; g < hand.facts.gaps.count; g++)
            assert_string_equal(idle_cause_word((enum idle_cause)hand.facts.gaps.gaps[g].cause),
                                ahead ? "unrecorded" : "unknown");
        hand_end(&hand);
    }
}

// Kernels in [0, 1000) and [1300, 1400), with 300 between them unrecorded: busy 1100 of 1100
// recorded.
static void unrecorded_time_is_neither_idle_nor_busy(void **state)
{
    (void)state;
    struct hand hand;
    begin_with_gap(&hand, 900);
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "breakdown", 0, "unrecorded_ns"), 300 * US);
    assert_int_equal(hand_i64(&hand, "breakdown", 0, "idle_other_ns"), 0);
    assert_int_equal(hand_i64(&hand, "breakdown", 0, "idle_ns"), 300 * US);
    assert_int_equal(hand_i64(&hand, "breakdown", 0, "window_ns"), 1400 * US);
    assert_true(hand_cell(&hand, "summary", 0, "busy_share")->f == 1.0);
    assert_true(hand_cell(&hand, "summary", 0, "idle_share")->f == 0.0);
    assert_string_equal(hand_word(&hand, "trust", 0, "item"), "unrecorded");
    assert_string_equal(hand_word(&hand, "trust", 0, "severity"), "warning");
    assert_int_equal(hand_i64(&hand, "trust", 0, "time_ns"), 300 * US);
    hand_end(&hand);
}

// A graph of 1,001 nodes was launched at 990, its call returned at 992; its first kernel starts at
// 1100, 108 us later. It may take 30 us plus 0.1 us per further node to start: 130 us. With 601
// nodes 90 us, so it is pending from 1052 on, with 501 from 1042 on: the longer part decides.
static void a_large_graph_takes_longer_to_start(void **state)
{
    (void)state;
    static const struct {
        int nodes;
        const char *cause;
    } cases[] = {{1001, "launch_overhead"},
                 {601, "launch_overhead"},
                 {501, "unrecorded"},
                 {2, "unrecorded"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        hand_begin(&hand);
        add_work(&hand, on(0, COMPUTE), span(0, 1000), by(MAIN, -500));
        for (int64_t node = 0; node < cases[i].nodes; node++)
            hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                                .name = "k",
                                                .begin_ns = (1100 + node) * US,
                                                .dur_ns = US,
                                                .row = COMPUTE,
                                                .correlation = 7});
        hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                            .name = "cudaGraphLaunch",
                                            .begin_ns = 990 * US,
                                            .dur_ns = 2 * US,
                                            .pid = 1,
                                            .row = MAIN,
                                            .correlation = 7});
        hand_facts(&hand);
        bool queued = cases[i].cause[0] == 'l';
        assert_gap(&hand, 1000, cases[i].cause, queued ? "cudaGraphLaunch" : NULL);
        hand_end(&hand);
    }
}

// --- cold starts --------------------------------------------------------------------------------

// Launches of 5 us, 1 ms apart, except the first one of kernel "k", which takes 332 ms.
static void the_first_launch_of_a_kernel_is_a_cold_start(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) { // launched the same way, it is slow every time
        struct hand hand;
        hand_begin(&hand);
        add_launched(&hand, "before", 0, span(-20, -15));
        add_launched(&hand, "k", 333000, span(985, 332990));
        add_launched(&hand, "k", 334000, span(333980, 333985));
        add_launched(&hand, "k", other ? 1000000 : 335000,
                     other ? span(600000, 999990) : span(334980, 334985));
        add_launched(&hand, "k", other ? 1400000 : 336000,
                     other ? span(1000200, 1399990) : span(335980, 335985));
        hand_facts(&hand);
        assert_gap(&hand, 100, other ? "launch_overhead" : "cold_start", "cudaLaunchKernel");
        hand_end(&hand);
    }
}

// Launches a graph of "k" and "l", which start when the call returns.
static void add_replay(struct hand *hand, struct stretch launch)
{
    for (int i = 0; i < 2; i++)
        hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                           .name = i ? "l" : "k",
                                           .begin_ns = (launch.end + 5 + i * 10) * US,
                                           .dur_ns = 10 * US,
                                           .row = COMPUTE,
                                           .correlation = 700000 + launch.begin});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaGraphLaunch",
                                       .begin_ns = launch.begin * US,
                                       .dur_ns = (launch.end - launch.begin) * US,
                                       .pid = 1,
                                       .row = MAIN,
                                       .correlation = 700000 + launch.begin});
}

// A graph takes 1.2 ms to launch in each of three replays; its first kernel, launched alone five
// times, 5 us. If the first replay takes 15 ms, that one is cold.
static void a_graph_is_no_first_launch_of_its_first_kernel(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        struct hand hand;
        hand_begin(&hand);
        add_launched(&hand, "before", 0, span(-20, -15));
        int64_t at_us = 105;
        for (int replay = 0; replay < 3; replay++) {
            int64_t end_us = at_us + (cold && replay == 0 ? 15000 : 1200);
            add_replay(&hand, span(at_us, end_us));
            at_us = end_us + 30;
        }
        for (int i = 0; i < 5; i++)
            add_launched(&hand, "k", at_us + 10 + i * 200,
                         span(at_us + i * 200, at_us + 5 + i * 200));
        hand_facts(&hand);
        assert_gap(&hand, 100, cold ? "cold_start" : "launch_overhead", "cudaGraphLaunch");
        hand_end(&hand);
    }
}

// Eleven kernels that occur once: one launch takes 1.5 ms. Of the 39 later launches of a twelfth
// none, 1 or 4 take 1.5 ms as well. 1 of 12 is more than twice 1 of 39, but not twice 4 of 39.
static void a_lone_launch_is_held_against_launches_that_come_again(void **state)
{
    (void)state;
    static const struct {
        int slow;
        const char *cause;
    } cases[] = {{0, "cold_start"}, {1, "cold_start"}, {4, "launch_overhead"}};
    for (size_t c = 0; c < 3; c++) {
        struct hand hand;
        char names[10][4];
        int64_t at_us = 105;
        hand_begin(&hand);
        add_launched(&hand, "once", 0, span(-20, -15));
        add_launched(&hand, "slow", at_us + 1505, span(at_us, at_us + 1500));
        at_us += 1700;
        for (int i = 0; i < 9; i++, at_us += 200) {
            snprintf(names[i], sizeof names[i], "k%d", i);
            add_launched(&hand, names[i], at_us, span(at_us - 10, at_us - 5));
        }
        for (int i = 0; i < 40; i++, at_us += 2000)
            add_launched(&hand, "again", at_us + 1600,
                         span(at_us, at_us + (i && i <= cases[c].slow ? 1500 : 5)));
        hand_facts(&hand);
        assert_gap(&hand, 100, cases[c].cause, "cudaLaunchKernel");
        hand_end(&hand);
    }
}

// CUDA_LAUNCH_BLOCKING=1: every call returns when its kernel has ended. One of 3 ms that occurs
// once is not a cold start.
static void a_launch_that_waits_for_its_kernel_is_no_cold_start(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launched(&hand, "before", 0, span(-20, 105));
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                        .name = "long",
                                        .begin_ns = 200 * US,
                                        .dur_ns = 3000 * US,
                                        .row = COMPUTE,
                                        .correlation = 9});
    hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                        .name = "cudaLaunchKernel",
                                        .begin_ns = 110 * US,
                                        .dur_ns = 3100 * US,
                                        .pid = 1,
                                        .row = MAIN,
                                        .correlation = 9});
    hand_facts(&hand);
    assert_gap(&hand, 100, "launch_overhead", "cudaLaunchKernel");
    hand_end(&hand);
}

// A cudaFree of 10 s that occurs once, and one that recurs and takes a twentieth and a half.
static void a_first_call_that_takes_ten_times_the_later_ones_is_a_cold_start(void **state)
{
    (void)state;
    static const struct {
        int64_t first_us, later_us;
        bool cold;
    } cases[] = {{10000000, 0, true}, {99990, 0, false},  {100000, 0, true},
                 {2000, 200, true},   {2000, 201, false}, {990, 10, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        int64_t end_us = 1000 + cases[i].first_us;
        hand_begin(&hand);
        add_launched(&hand, "k", 900, span(800, 805));
        call(&hand, "cudaFree", span(1000, end_us));
        add_launched(&hand, "k", end_us + 20, span(end_us + 10, end_us + 15));
        if (cases[i].later_us)
            call(&hand, "cudaFree", span(end_us + 50, end_us + 50 + cases[i].later_us));
        hand_analyze(&hand);
        size_t cause = hand_find(&hand, "idle_causes", "host_event", "cudaFree");
        assert_string_equal(hand_word(&hand, "idle_causes", cause, "cause"),
                            cases[i].cold ? "cold_start" : "allocator");
        assert_int_equal(trust_count(&hand.report, "cold_start"), cases[i].cold);
        for (size_t f = 0; f < hand_rows(&hand, "findings"); f++)
            assert_true(!cases[i].cold ||
                        strcmp(hand_word(&hand, "findings", f, "rule"), "starved_allocator") != 0);
        hand_end(&hand);
    }
}

// If both of two steps have a cold start, the first is warm-up: the trust report counts one.
static void cold_starts_of_the_warm_up_are_not_counted(void **state)
{
    (void)state;
    static const int64_t marks[][2] = {{-100, 400000}, {400000, 700000}};
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 2; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                            .name = i ? "ProfilerStep#2" : "ProfilerStep#1",
                                            .begin_ns = marks[i][0] * US,
                                            .dur_ns = (marks[i][1] - marks[i][0]) * US,
                                            .pid = 1,
                                            .row = MAIN});
    add_launched(&hand, "before", 0, span(-20, -15));
    add_launched(&hand, "a", 300010, span(200, 300000));
    add_launched(&hand, "b", 600010, span(400100, 600000));
    hand_analyze(&hand);
    size_t row = hand_find(&hand, "trust", "item", "cold_start");
    assert_int_equal(hand_i64(&hand, "trust", row, "count"), 1);
    hand_end(&hand);
}

static void calls_that_load_code_or_create_are_cold_starts(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuModuleLoadData", "cuLibraryLoadData", "hipModuleLoad",
                                        "cudaStreamCreateWithPriority", "cuLinkComplete"};
    for (size_t i = 0; i < 5; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(1000, 1290));
        call(&hand, calls[i], span(1010, 1280));
        end_with_gap(&hand, "cold_start", calls[i]);
    }
}

// The profiler records code loading as overhead, but it happens without the profiler, too.
static void loading_code_is_no_overhead_of_the_profiler(void **state)
{
    (void)state;
    static const struct {
        const char *name, *cause;
        int64_t rows;
    } cases[] = {{"Lazy Function Loading", "cold_start", 0},
                 {"Driver Compiler", "cold_start", 0},
                 {"Runtime Triggered Module Loading", "cold_start", 0},
                 {"Command Buffer Full", "host_compute", 0},
                 {"Buffer Flush", "profiler", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        begin_with_gap(&hand, 1290);
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::mm", span(900, 1290));
        add_host(&hand, EVENT_OVERHEAD, -1, cases[i].name, span(1000, 1200));
        hand_analyze(&hand);
        assert_string_equal(hand_word(&hand, "idle_causes", 0, "cause"), cases[i].cause);
        assert_int_equal(trust_count(&hand.report, "profiler_overhead"), cases[i].rows);
        hand_end(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_work_that_has_ended_holds_nothing),
        cmocka_unit_test(what_another_stream_has_pending_tells_it_too),
        cmocka_unit_test(the_longer_part_of_a_gap_decides),
        cmocka_unit_test(what_was_launched_before_the_recording_is_pending),
        cmocka_unit_test(a_wait_for_the_host_or_another_process_holds),
        cmocka_unit_test(a_launch_out_of_order_proves_nothing),
        cmocka_unit_test(one_device_may_wait_for_another),
        cmocka_unit_test(clocks_that_disagree_leave_nothing_pending),
        cmocka_unit_test(unrecorded_time_is_neither_idle_nor_busy),
        cmocka_unit_test(a_large_graph_takes_longer_to_start),
        cmocka_unit_test(the_first_launch_of_a_kernel_is_a_cold_start),
        cmocka_unit_test(a_graph_is_no_first_launch_of_its_first_kernel),
        cmocka_unit_test(a_lone_launch_is_held_against_launches_that_come_again),
        cmocka_unit_test(a_launch_that_waits_for_its_kernel_is_no_cold_start),
        cmocka_unit_test(a_first_call_that_takes_ten_times_the_later_ones_is_a_cold_start),
        cmocka_unit_test(cold_starts_of_the_warm_up_are_not_counted),
        cmocka_unit_test(calls_that_load_code_or_create_are_cold_starts),
        cmocka_unit_test(loading_code_is_no_overhead_of_the_profiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
