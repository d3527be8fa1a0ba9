// SPDX-License-Identifier: Apache-2.0
// Which device event is the first credible one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/trace/plausible.h"
#include "ingest/trace/trace_builder.h"

#define HOUR_NS PLAUSIBLE_REACH_NS

#define HOST -1 // instead of a stream: a call of the host

struct kernel {
    int64_t stream, begin_ns, dur_ns;
};

static int64_t first_of(const struct kernel *kernels, size_t count)
{
    struct budget budget = {0};
    struct err err = {0};
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    assert_non_null(builder);
    for (size_t i = 0; i < count; i++) {
        struct event_record event = {.kind =
                                         kernels[i].stream == HOST ? EVENT_RUNTIME : EVENT_KERNEL,
                                     .tid = {kernels[i].stream, 0},
                                     .begin_ns = kernels[i].begin_ns,
                                     .dur_ns = kernels[i].dur_ns};
        assert_true(trace_builder_add(builder, &event, &err));
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    int64_t begin_ns = plausible_device_begin(trace, -1);
    trace_free(trace);
    return begin_ns;
}
#define FIRST_OF(...)                              \
    first_of((const struct kernel[]){__VA_ARGS__}, \
             sizeof((const struct kernel[]){__VA_ARGS__}) / sizeof(struct kernel))

static void the_first_event_of_any_stream_counts(void **state)
{
    (void)state;
    assert_int_equal(FIRST_OF({7, 50, 5}), 50);
    assert_int_equal(FIRST_OF({7, 50, 5}, {7, 60, 5}, {9, 40, 5}), 40);
}

static void events_that_cannot_be_are_passed_over(void **state)
{
    (void)state;
    assert_int_equal(FIRST_OF({7, 10, -5}, {7, 50, 5}), 50);
    assert_int_equal(FIRST_OF({7, 10, HOUR_NS + 1}, {7, 50, HOUR_NS}), 50);
    assert_int_equal(FIRST_OF({7, 49 - HOUR_NS, 5}, {7, 50, 5}, {9, 60, 5}), 50);
    assert_int_equal(FIRST_OF({7, 50 - HOUR_NS, 5}, {7, 50, 5}), 50 - HOUR_NS);
    assert_int_equal(FIRST_OF({7, -TRACE_MAX_NS, 5}, {7, 50, 5}, {9, TRACE_MAX_NS, 5}), 50);
}

// Of two, the later is the median, as when the events are sorted and the middle one is taken.
static void the_median_is_the_later_of_the_two_in_the_middle(void **state)
{
    (void)state;
    assert_int_equal(FIRST_OF({7, 1, 5}, {9, 2 + HOUR_NS, 5}), 2 + HOUR_NS);
    assert_int_equal(FIRST_OF({7, 1, 5}, {7, 2, 5}, {9, 2 * HOUR_NS, 5}), 1);
}

// Profilers write 0 for a time they do not know, of most events if it goes wrong.
static void events_at_zero_do_not_count_for_the_median(void **state)
{
    (void)state;
    assert_int_equal(FIRST_OF({7, 0, 0}, {7, 0, 0}, {9, 0, 0}, {9, 2 * HOUR_NS, 5}), 2 * HOUR_NS);
    assert_int_equal(FIRST_OF({7, 0, 0}, {7, 0, 0}, {9, 5, 5}), 0);
    assert_int_equal(FIRST_OF({7, -3 * HOUR_NS, 5}, {7, 0, 0}, {9, 0, 5}), -3 * HOUR_NS);
    assert_int_equal(FIRST_OF({7, 0, 0}, {9, 0, 5}), 0);
}

// A server that is asked now and then works in bursts.
static void what_the_host_vouches_for_is_plausible_however_far(void **state)
{
    (void)state;
    const int64_t next = 3 * HOUR_NS, late = 30 * HOUR_NS;
    assert_int_equal(FIRST_OF({7, 5, 5}, {7, next, 5}, {7, next + 9, 5}), next);
    assert_int_equal(FIRST_OF({HOST, 4, 1}, {7, 5, 5}, {7, next, 5}, {7, next + 9, 5}), 5);
    assert_int_equal(FIRST_OF({HOST, 6 + HOUR_NS, 1}, {7, 5, 5}, {7, next, 5}, {7, next + 9, 5}),
                     next);
    assert_int_equal(FIRST_OF({HOST, 5 + HOUR_NS, 1}, {7, 5, 5}, {7, next, 5}, {7, next + 9, 5}),
                     5);
    assert_int_equal(FIRST_OF({HOST, 0, 1}, {7, 5, 5}, {7, next, 5}, {7, next + 9, 5}), next);
    assert_int_equal(FIRST_OF({HOST, 4, 1}, {7, 0, 0}, {7, next, 5}, {7, next + 9, 5}), next);
    assert_int_equal(FIRST_OF({HOST, 4, 1}, {7, 5, 5}, {7, late, 5}, {7, late + 9, 5}), late);
}

// Two bursts before the median, and between them what nothing vouches for.
static void each_time_is_judged_by_the_host_near_it(void **state)
{
    (void)state;
    const int64_t next = 20 * HOUR_NS;
    assert_int_equal(FIRST_OF({HOST, 8 * HOUR_NS, 1}, {HOST, 14 * HOUR_NS, 1}, {7, 1, 5},
                              {7, 11 * HOUR_NS, 5}, {7, 14 * HOUR_NS, 5}, {7, next, 5},
                              {7, next, 5}, {7, next, 5}, {7, next, 5}),
                     14 * HOUR_NS);
}

static void without_any_the_other_time_is_given(void **state)
{
    (void)state;
    assert_int_equal(first_of(NULL, 0), -1);
    assert_int_equal(FIRST_OF({7, 10, -5}), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_event_of_any_stream_counts),
        cmocka_unit_test(events_that_cannot_be_are_passed_over),
        cmocka_unit_test(the_median_is_the_later_of_the_two_in_the_middle),
        cmocka_unit_test(events_at_zero_do_not_count_for_the_median),
        cmocka_unit_test(what_the_host_vouches_for_is_plausible_however_far),
        cmocka_unit_test(each_time_is_judged_by_the_host_near_it),
        cmocka_unit_test(without_any_the_other_time_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
