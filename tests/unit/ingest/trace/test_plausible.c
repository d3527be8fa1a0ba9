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
        struct event_record event = {.kind = EVENT_KERNEL,
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
    assert_int_equal(FIRST_OF({7, 0, 5}, {9, 2 * HOUR_NS, 5}), 2 * HOUR_NS);
    assert_int_equal(FIRST_OF({7, 0, 5}, {7, 1, 5}, {9, 2 * HOUR_NS, 5}), 0);
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
        cmocka_unit_test(without_any_the_other_time_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
