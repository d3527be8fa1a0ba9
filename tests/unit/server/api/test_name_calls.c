// SPDX-License-Identifier: Apache-2.0
// Calls of one name in handmade traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "ingest/trace/trace_file.h"
#include "server/api/name_calls.h"
#include "tests/unit/hand_trace.h"

// Reads the calls of a name from the trace once it is sealed and saved.
static struct name_calls read_calls(struct hand *hand, enum call_kind kind, const char *name,
                                    struct call_step *steps, size_t step_count)
{
    char path[] = "/tmp/stepscope-calls-XXXXXX";
    struct name_calls calls = {.steps = steps, .step_count = step_count};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    hand_seal(hand);
    assert_true(trace_file_save(hand->trace, path, &hand->err));
    struct trace_file *file = trace_file_open(path, &hand->err);
    assert_non_null(file);
    assert_true(name_calls_read(file, kind, str_of(name), &calls, &hand->err));
    trace_file_close(file);
    unlink(path);
    return calls;
}

static void calls_of_a_kernel_are_counted_by_step_and_the_longest_come_first(void **state)
{
    (void)state;
    struct hand hand;
    struct call_step steps[] = {{.begin_ns = 1000, .end_ns = 2000},
                                {.begin_ns = 2000, .end_ns = 4000}};
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 1000, 100);
    hand_kernel(&hand, "gemm", 7, 1999, 300);
    hand_kernel(&hand, "other", 7, 2400, 900);
    hand_kernel(&hand, "gemm", 8, 2500, 300);
    hand_kernel(&hand, "gemm", 8, 5000, 50); // after the last step
    struct name_calls calls = read_calls(&hand, CALLS_OF_KERNEL, "gemm", steps, 2);
    assert_int_equal(calls.calls.count, 4);
    assert_int_equal(calls.calls.total_ns, 750);
    assert_int_equal(calls.calls.ns[0], 50);
    assert_int_equal(calls.calls.ns[3], 300);
    assert_int_equal(steps[0].calls, 2);
    assert_int_equal(steps[0].total_ns, 400);
    assert_int_equal(steps[1].calls, 1);
    assert_int_equal(steps[1].max_ns, 300);
    assert_int_equal(calls.longest_count, 4);
    assert_int_equal(calls.longest[0].begin_ns, 1999); // of two as long the earlier
    assert_int_equal(calls.longest[1].begin_ns, 2500);
    assert_int_equal(calls.longest[3].dur_ns, 50);
    name_calls_free(&calls);
    hand_end(&hand);
}

static void a_kernel_that_overruns_the_next_is_cut_there_as_in_the_tables(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 1000, 500000);
    hand_kernel(&hand, "next", 7, 101000, 10);
    struct name_calls calls = read_calls(&hand, CALLS_OF_KERNEL, "gemm", NULL, 0);
    assert_int_equal(calls.calls.total_ns, 100000);
    name_calls_free(&calls);
    hand_end(&hand);
}

static void a_copy_beside_another_of_its_row_is_whole_as_in_the_tables(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 0; i < 2; i++)
        hand_add(&hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                            .name = "copy",
                                            .begin_ns = 1000 + 100000 * i,
                                            .dur_ns = i ? 10 : 500000});
    hand_kernel(&hand, "MEMORY_COPY_HOST_TO_DEVICE", 0, 102000, 10);
    struct name_calls calls = read_calls(&hand, CALLS_OF_KERNEL, "copy", NULL, 0);
    assert_int_equal(calls.calls.total_ns, 500010);
    name_calls_free(&calls);
    hand_end(&hand);
}

static void launch(struct hand *hand, int64_t begin_ns, int64_t correlation, int64_t kernel_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 5,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = "k",
                                       .begin_ns = begin_ns + 1000,
                                       .dur_ns = kernel_ns,
                                       .row = 7,
                                       .correlation = correlation});
}

static void op(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_host(hand, EVENT_CPU_OP, name, begin_ns, dur_ns);
}

static void an_operator_has_what_its_outermost_calls_launched(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    op(&hand, "mm", 1000, 200);
    op(&hand, "mm", 1050, 100); // within the first
    launch(&hand, 1060, 1, 40);
    launch(&hand, 1160, 2, 30);
    op(&hand, "mm", 2000, 50); // launches nothing
    launch(&hand, 2100, 3, 999);
    struct name_calls calls = read_calls(&hand, CALLS_OF_OPERATOR, "mm", NULL, 0);
    assert_int_equal(calls.calls.count, 3);
    assert_int_equal(calls.calls.total_ns, 350);
    assert_int_equal(calls.device.count, 2);
    assert_int_equal(calls.device.ns[0], 0);
    assert_int_equal(calls.device.ns[1], 70);
    assert_int_equal(calls.device.total_ns, 70);
    name_calls_free(&calls);
    hand_end(&hand);
}

// A server that is profiled for hours, with requests now and then.
static void calls_of_bursts_hours_apart_all_count(void **state)
{
    (void)state;
    const int64_t hour = INT64_C(3600000000000);
    struct hand hand;
    hand_begin(&hand);
    launch(&hand, 1000, 1, 40);
    launch(&hand, 3 * hour, 2, 30);
    launch(&hand, 6 * hour, 3, 20);
    hand_kernel(&hand, "k", 7, 90 * hour, 5); // its clock jumped
    struct name_calls calls = read_calls(&hand, CALLS_OF_KERNEL, "k", NULL, 0);
    assert_int_equal(calls.calls.count, 3);
    assert_int_equal(calls.calls.total_ns, 90);
    name_calls_free(&calls);
    hand_end(&hand);
}

static void a_name_that_does_not_occur_has_no_calls(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "gemm", 7, 1000, 100);
    struct name_calls calls = read_calls(&hand, CALLS_OF_KERNEL, "gem", NULL, 0);
    assert_int_equal(calls.calls.count, 0);
    assert_int_equal(call_bins_of(&calls.calls).count, 0);
    name_calls_free(&calls);
    hand_end(&hand);
}

static void assert_covers(const struct call_bins *bins, const struct call_times *times)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < bins->count; i++) {
        int64_t within = 0;
        for (size_t call = 0; call < times->count; call++)
            within += times->ns[call] >= bins->edges[i] && times->ns[call] < bins->edges[i + 1];
        assert_true(bins->edges[i] < bins->edges[i + 1]);
        assert_int_equal(bins->counts[i], within);
        sum += within;
    }
    assert_int_equal(sum, times->count);
}

static void bins_hold_every_call_once_whatever_the_range(void **state)
{
    (void)state;
    static int64_t const lists[][5] = {{5, 5, 5, 5, 5},
                                       {0, 0, 1, 2, 3},
                                       {0, 7, 9000, 9000, INT64_C(3600000000000)},
                                       {1, 2, 3, 1000, 100000},
                                       {900, 950, 1000, 1001, 1100}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int64_t ns[5];
        memcpy(ns, lists[i], sizeof ns);
        struct call_times times = {.ns = ns, .count = 5};
        struct call_bins bins = call_bins_of(&times);
        assert_covers(&bins, &times);
    }
    struct call_times wide = {.ns = (int64_t[]){1, 10, 100, 1000}, .count = 4};
    struct call_bins bins = call_bins_of(&wide);
    assert_true(bins.edges[bins.count] - bins.edges[bins.count - 1] > 100); // logarithmic
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_a_kernel_are_counted_by_step_and_the_longest_come_first),
        cmocka_unit_test(a_kernel_that_overruns_the_next_is_cut_there_as_in_the_tables),
        cmocka_unit_test(a_copy_beside_another_of_its_row_is_whole_as_in_the_tables),
        cmocka_unit_test(an_operator_has_what_its_outermost_calls_launched),
        cmocka_unit_test(calls_of_bursts_hours_apart_all_count),
        cmocka_unit_test(a_name_that_does_not_occur_has_no_calls),
        cmocka_unit_test(bins_hold_every_call_once_whatever_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
