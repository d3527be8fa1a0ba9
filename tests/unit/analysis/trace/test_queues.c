// SPDX-License-Identifier: Apache-2.0
// Queues weighted by time, idle time of streams in three categories, launch delays: by hand.
#include "tests/unit/hand_trace.h"

#include <math.h>

#define US INT64_C(1000)

static void add_kernel(struct hand *hand, int64_t stream, int64_t begin_ns, int64_t end_ns,
                       int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = begin_ns,
                                       .dur_ns = end_ns - begin_ns,
                                       .row = stream,
                                       .correlation = correlation});
}

static void add_call(struct hand *hand, const char *name, int64_t begin_ns, int64_t end_ns,
                     int64_t correlation)
{
    hand_call(hand, name, begin_ns, end_ns - begin_ns, correlation);
}

static size_t find_stream(const struct hand *hand, const char *table, const char *stream,
                          const char *category)
{
    for (size_t i = 0; i < hand_rows(hand, table); i++)
        if (strcmp(hand_word(hand, table, i, "stream"), stream) == 0 &&
            (!category || strcmp(hand_word(hand, table, i, "category"), category) == 0))
            return i;
    fail_msg("%s has no row of stream %s %s", table, stream, category ? category : "");
    return 0;
}

static bool is_close(double found, double expected)
{
    return fabs(found - expected) < 1e-9;
}

// The window is [0,100). On stream 7 kernels are launched at -10, 20, 30 and 70 and start at 0, 40,
// 50 and 90: one waits in [20,30), two in [30,40), one in [40,50) and [70,90).
static void a_queue_is_weighted_by_time(void **state)
{
    (void)state;
    static const int64_t times[][3] = {{-10, 0, 40}, {20, 40, 50}, {30, 50, 90}, {70, 90, 100}};
    struct hand hand;
    hand_begin(&hand);
    for (int i = 0; i < 4; i++) {
        add_call(&hand, "cudaLaunchKernel", times[i][0], times[i][0] + 5, i + 1);
        add_kernel(&hand, 7, times[i][1], times[i][2], i + 1);
    }
    add_kernel(&hand, 8, 10, 20, 0); // without a launch there is no queue
    add_call(&hand, "cudaLaunchKernel", 40, 45, 9);
    add_kernel(&hand, 9, 30, 35, 9); // a clock fault: launched after it started
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "queues"), 1);
    assert_string_equal(hand_word(&hand, "queues", 0, "device"), "0");
    assert_string_equal(hand_word(&hand, "queues", 0, "stream"), "7");
    assert_int_equal(hand_i64(&hand, "queues", 0, "launches"), 4);
    assert_true(is_close(hand_cell(&hand, "queues", 0, "mean")->f, 0.6));
    assert_int_equal(hand_i64(&hand, "queues", 0, "median"), 0); // empty for exactly half the time
    assert_int_equal(hand_i64(&hand, "queues", 0, "p95"), 2);
    assert_int_equal(hand_i64(&hand, "queues", 0, "max"), 2);
    assert_true(is_close(hand_cell(&hand, "queues", 0, "empty_share")->f, 0.5));
    assert_int_equal(hand_i64(&hand, "queues", 0, "full_ns"), 0);
    hand_end(&hand);
}

// All are launched at 0 and start from 100 on, one every 10 ns: with n of them, the queue holds
// 1,000 or more from 0 until the (n - 999)th starts.
static void a_queue_of_a_thousand_is_full(void **state)
{
    (void)state;
    for (int count = 999; count <= 1001; count++) {
        struct hand hand;
        hand_begin(&hand);
        hand_kernel(&hand, "first", 8, 0, 1);
        for (int i = 0; i < count; i++) {
            add_call(&hand, "hipLaunchKernel", 0, 1, i + 1);
            add_kernel(&hand, 7, 100 + 10 * i, 105 + 10 * i, i + 1);
        }
        hand_analyze(&hand);
        assert_int_equal(hand_i64(&hand, "queues", 0, "full_ns"),
                         count < 1000 ? 0 : 100 + 10 * (count - 1000));
        assert_int_equal(hand_i64(&hand, "queues", 0, "max"), count);
        hand_end(&hand);
    }
}

static void a_graph_queues_once_on_each_stream(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "first", 9, 0, 1);
    add_call(&hand, "cudaGraphLaunch", 10, 20, 5);
    for (int i = 0; i < 4; i++)
        add_kernel(&hand, i < 3 ? 7 : 8, 50 + 10 * i, 55 + 10 * i, 5);
    hand_analyze(&hand);
    size_t row = find_stream(&hand, "queues", "7", NULL);
    assert_int_equal(hand_i64(&hand, "queues", row, "launches"), 1);
    assert_true(is_close(hand_cell(&hand, "queues", row, "mean")->f, 40.0 / 85));
    row = find_stream(&hand, "queues", "8", NULL);
    assert_true(is_close(hand_cell(&hand, "queues", row, "mean")->f, 70.0 / 85));
    hand_end(&hand);
}

// Stream 7: [0,10) [8,9) [20,30) [59,70) [100,110) [200,210) us; the gaps follow the latest end.
static void streams_are_idle_in_three_categories(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    static const int64_t spans[][2] = {{0, 10}, {8, 9}, {20, 30}, {59, 70}, {100, 110}, {200, 210}};
    static const int64_t launched[] = {-5, -4, -3, 1, 70, 111}; // us
    for (int i = 0; i < 6; i++) {
        if (i != 2) // has no launch
            add_call(&hand, "cudaLaunchKernel", launched[i] * US, (launched[i] + 1) * US, i + 1);
        add_kernel(&hand, 7, spans[i][0] * US, spans[i][1] * US, i + 1);
    }
    add_kernel(&hand, 8, 0, 5, 0); // one event has no gap
    hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL, .name = "k", .pid = 1, .row = 7});
    hand_analyze(&hand);
    static const struct {
        const char *category;
        int64_t gaps, idle_us, max_us;
    } expected[] = {
        {"host_wait", 1, 90, 90},   // launched at 111, the one before ended at 110
        {"kernel_wait", 2, 39, 29}, // 10 without a launch, 29 launched before
        {"other", 1, 30, 30},       // launched at 70, just as the one before ended
    };
    assert_int_equal(hand_rows(&hand, "stream_idle"), 3);
    for (size_t i = 0; i < 3; i++) {
        size_t row = find_stream(&hand, "stream_idle", "7", expected[i].category);
        assert_int_equal(hand_i64(&hand, "stream_idle", row, "gaps"), expected[i].gaps);
        assert_int_equal(hand_i64(&hand, "stream_idle", row, "idle_ns"), expected[i].idle_us * US);
        assert_int_equal(hand_i64(&hand, "stream_idle", row, "max_ns"), expected[i].max_us * US);
        assert_true(is_close(hand_cell(&hand, "stream_idle", row, "idle_share")->f,
                             (double)expected[i].idle_us / 159));
    }
    hand_end(&hand);
}

static void launches_are_measured_by_call(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    // Duration of the call, time from its end to the kernel's start, duration of the kernel.
    static const int64_t times[][3] = {{10, 5, 20}, {50, 100, 50}, {51, 101, 50}};
    for (int i = 0; i < 3; i++) {
        int64_t at = 1000 * i * US;
        add_call(&hand, "cuLaunchKernel", at, at + times[i][0] * US, i + 1);
        int64_t begin_us = times[i][0] + times[i][1];
        add_kernel(&hand, 7, at + begin_us * US, at + (begin_us + times[i][2]) * US, i + 1);
    }
    add_call(&hand, "hipGraphLaunch", 5000 * US, 5030 * US, 9);
    for (int i = 0; i < 3; i++) // the first one started before the call returned
        add_kernel(&hand, 7, (5020 + 50 * i) * US, (5040 + 50 * i) * US, 9);
    add_call(&hand, "cudaMalloc", 0, 5, 77); // launches nothing
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "launch_delays"), 2);
    static const struct {
        const char *column;
        int64_t kernels, graphs;
    } expected[] = {
        {"launches", 3, 1},
        {"call_median_ns", 50 * US, 30 * US},
        {"call_p95_ns", 51 * US, 30 * US},
        {"delay_median_ns", 100 * US, 0},
        {"delay_p95_ns", 101 * US, 0},
        {"start_median_ns", 150 * US, 20 * US},
        {"short_kernels", 1, 1}, // 50 us are not shorter than 50
        {"slow_calls", 1, 0},
        {"long_delays", 1, 0},
    };
    assert_string_equal(hand_word(&hand, "launch_delays", 0, "call"), "cuLaunchKernel");
    assert_string_equal(hand_word(&hand, "launch_delays", 1, "call"), "hipGraphLaunch");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(hand_i64(&hand, "launch_delays", 0, expected[i].column),
                         expected[i].kernels);
        assert_int_equal(hand_i64(&hand, "launch_delays", 1, expected[i].column),
                         expected[i].graphs);
    }
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_weighted_by_time),
        cmocka_unit_test(a_queue_of_a_thousand_is_full),
        cmocka_unit_test(a_graph_queues_once_on_each_stream),
        cmocka_unit_test(streams_are_idle_in_three_categories),
        cmocka_unit_test(launches_are_measured_by_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
