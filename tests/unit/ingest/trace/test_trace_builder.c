// SPDX-License-Identifier: Apache-2.0
// Collecting and sealing events.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/trace/trace_builder.h"
#include "tests/tracegen/splitmix.h"

static struct event_record kernel(uint32_t i)
{
    return (struct event_record){.kind = EVENT_KERNEL,
                                 .name = 0,
                                 .begin_ns = (int64_t)i * 10,
                                 .dur_ns = 7,
                                 .pid = {0, 0},
                                 .tid = {7, 0},
                                 .correlation = i,
                                 .shape = {.registers = (int32_t)(i % 5)}};
}

static void events_are_grouped_by_row_and_sorted_within(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    struct splitmix random = {9};
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t r = splitmix_next(&random);
        struct event_record event = kernel(i);
        event.kind = r % 3 ? EVENT_KERNEL : EVENT_CPU_OP;
        event.tid.number = (int64_t)(r >> 8 & 3);
        event.begin_ns = (int64_t)(r >> 16 & 0xFFFF);
        event.dur_ns = (int64_t)(r >> 40 & 7);
        assert_true(trace_builder_add(builder, &event, &err));
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    assert_int_equal(trace->track_count, 8);
    uint32_t next = 0;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        assert_int_equal(track->first, next);
        next += track->count;
        for (uint32_t e = track->first + 1; e < next; e++) {
            assert_true(trace->begin_ns[e - 1] <= trace->begin_ns[e]);
            if (trace->begin_ns[e - 1] < trace->begin_ns[e])
                continue;
            int64_t longer = trace->dur_ns[e] - trace->dur_ns[e - 1];
            assert_true(track->family == TRACK_DEVICE ? longer >= 0 : longer <= 0);
            if (longer == 0 && track->family == TRACK_DEVICE)
                assert_true(trace->device_args[trace->args[e - 1]].order <
                            trace->device_args[trace->args[e]].order);
        }
    }
    assert_int_equal(next, 100000);
    trace_free(trace);
    assert_int_equal(budget.used, 0);
}

static void numbers_of_collectives_that_do_not_fit_count_as_not_given(void **state)
{
    (void)state;
    static const int64_t given[] = {0,  ARGS_NONE - 1, ARGS_NONE, INT64_C(1) << 32,
                                    -1, VALUE_ABSENT};
    static const uint32_t kept[] = {0, ARGS_NONE - 1, ARGS_NONE, ARGS_NONE, ARGS_NONE, ARGS_NONE};
    struct budget budget = {0};
    struct err err;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    for (uint32_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct event_record event = kernel(i);
        event.sequence = given[i];
        assert_true(trace_builder_add(builder, &event, &err));
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    for (uint32_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(trace->device_args[trace->args[i]].sequence, kept[i]);
    trace_free(trace);
}

static void an_empty_trace_is_a_trace(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    assert_int_equal(trace_builder_last_ns(builder), 0);
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    assert_int_equal(trace->event_count, 0);
    assert_int_equal(trace->track_count, 0);
    assert_null(trace_setting_find(trace, STR("x")));
    assert_null(trace_group_find(trace, 0));
    assert_int_equal(trace->job.rank, VALUE_ABSENT);
    assert_int_equal(trace->job.base_ns, 0);
    trace_free(trace);
    assert_int_equal(budget.used, 0);
}

static str_id intern(struct trace_builder *builder, struct str text)
{
    struct err err;
    str_id id;
    assert_true(strtab_intern(trace_builder_strings(builder), text, &id, &err));
    return id;
}

static void groups_are_replaced_and_the_first_name_of_a_thread_counts(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    struct event_record event = kernel(1);
    struct label pid = {0, 0}, tid = {7, 0};
    str_id other = intern(builder, STR("other")), name = intern(builder, STR("name"));
    const struct trace_group groups[] = {
        {.name = name, .size = 1}, {.name = other, .size = 2}, {.name = name, .size = 3}};
    for (size_t i = 0; i < 3; i++)
        assert_true(trace_builder_group(builder, &groups[i], &err));
    assert_true(trace_builder_name_thread(builder, pid, tid, intern(builder, STR("a")), &err));
    assert_true(trace_builder_name_thread(builder, tid, pid, intern(builder, STR("b")), &err));
    assert_true(trace_builder_name_thread(builder, pid, tid, intern(builder, STR("c")), &err));
    assert_true(trace_builder_add(builder, &event, &err));
    event.tid.number = 8;
    assert_true(trace_builder_add(builder, &event, &err));
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_int_equal(trace->group_count, 2);
    assert_int_equal(trace_group_find(trace, name)->size, 3);
    assert_int_equal(trace_group_find(trace, other)->size, 2);
    assert_null(trace_group_find(trace, 0));
    assert_true(str_equal(trace_text(trace, trace->tracks[0].name), STR("a")));
    assert_int_equal(trace->tracks[1].name, 0);
    trace_free(trace);
    assert_int_equal(budget.used, 0);
}

// The mix in a training step: launches, kernels, operators with and without arguments, allocations,
// Python frames; argument tuples repeat like the layers of a model.
static struct event_record mixed(uint32_t i)
{
    static const enum event_kind kinds[8] = {EVENT_RUNTIME, EVENT_KERNEL,    EVENT_CPU_OP,
                                             EVENT_CPU_OP,  EVENT_CPU_OP,    EVENT_CPU_OP,
                                             EVENT_PYTHON,  EVENT_ALLOCATION};
    struct event_record event = kernel(i);
    event.kind = kinds[i % 8];
    event.sequence = i % 8 == 2 ? (int64_t)i : VALUE_ABSENT;
    if (i % 8 < 4)
        event.inputs.dims = event.inputs.types = i / 8 % 300;
    event.memory = (struct memory_args){.address = i, .bytes = 512, .device_type = 1};
    return event;
}

static struct trace *build_mixed(struct budget *budget, uint32_t events, struct err *err)
{
    struct trace_builder *builder = trace_builder_new(budget, err);
    bool ok = builder != NULL;
    for (uint32_t i = 0; ok && i < events; i++) {
        struct event_record event = mixed(i);
        ok = trace_builder_add(builder, &event, err);
    }
    if (ok)
        return trace_builder_seal(builder, err);
    trace_builder_free(builder);
    return NULL;
}

static bool build(struct budget *budget, uint32_t events, struct err *err)
{
    struct trace_builder *builder = trace_builder_new(budget, err);
    bool ok = builder != NULL;
    for (uint32_t i = 0; ok && i < events; i++) {
        struct event_record event = kernel(i);
        event.kind = i % 4 ? EVENT_KERNEL : EVENT_RUNTIME;
        event.tid.number = i % 3;
        ok = trace_builder_add(builder, &event, err);
    }
    if (!ok) {
        trace_builder_free(builder);
        return false;
    }
    struct trace *trace = trace_builder_seal(builder, err);
    trace_free(trace);
    return trace != NULL;
}

static void assert_fails_cleanly(uint32_t events, uint64_t step)
{
    struct budget free_of_limits = {0};
    struct err err;
    assert_true(build(&free_of_limits, events, &err));
    for (uint64_t limit = 1; limit < free_of_limits.peak; limit += step) {
        struct budget budget = {.limit = limit};
        err.code = ERR_NONE;
        assert_false(build(&budget, events, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_int_equal(budget.used, 0);
    }
    struct budget enough = {.limit = free_of_limits.peak};
    assert_true(build(&enough, events, &err));
}

static void running_out_of_budget_fails_cleanly_wherever_it_happens(void **state)
{
    (void)state;
    assert_fails_cleanly(70000, 50021);
    assert_fails_cleanly(600000, 5000011); // chunks come in blocks of several, too
}

static void arguments_stay_with_their_events_and_equal_ones_are_kept_once(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct trace *trace = build_mixed(&budget, 80000, &err);
    assert_non_null(trace);
    assert_int_equal(trace->memory_args_count, 10000);
    assert_int_equal(trace->op_args_count, 20000 - 10000 / 300 - 1); // tuple 0 alone is nothing
    assert_int_equal(trace->op_inputs_count, 299);
    for (uint32_t e = 0; e < trace->event_count; e++) {
        uint32_t i = (uint32_t)(trace->begin_ns[e] / 10), at = trace->args[e];
        if (trace->kind[e] == EVENT_ALLOCATION)
            assert_int_equal(trace->memory_args[at].address, i);
        if (trace->kind[e] != EVENT_CPU_OP)
            continue;
        if (i % 8 == 2)
            assert_int_equal(trace->op_args[at].sequence, i);
        if (i % 8 < 4 && i / 8 % 300)
            assert_int_equal(trace->op_inputs[trace->op_args[at].inputs].dims, i / 8 % 300);
        else
            assert_true(at == ARGS_NONE || trace->op_args[at].inputs == ARGS_NONE);
    }
    trace_free(trace);
    assert_int_equal(budget.used, 0);
}

static void running_out_of_budget_for_arguments_fails_cleanly_too(void **state)
{
    (void)state;
    struct budget free_of_limits = {0};
    struct err err;
    trace_free(build_mixed(&free_of_limits, 60000, &err));
    for (uint64_t limit = 1; limit < free_of_limits.peak; limit += 40009) {
        struct budget budget = {.limit = limit};
        err.code = ERR_NONE;
        assert_null(build_mixed(&budget, 60000, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_int_equal(budget.used, 0);
    }
}

static void a_million_events_of_a_training_step_take_at_most_128_bytes_each(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct trace *trace = build_mixed(&budget, 1000000, &err);
    assert_non_null(trace);
    assert_in_range(budget.peak / 1000000, 40, 128);
    trace_free(trace);
}

static void a_million_kernels_take_at_most_128_bytes_each(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    assert_true(build(&budget, 1000000, &err));
    assert_true(budget.peak / 1000000 <= 128);
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    budget.peak = 0;
    for (uint32_t i = 0; i < 1000000; i++) {
        struct event_record event = kernel(1000000 - i); // one row, out of order
        assert_true(trace_builder_add(builder, &event, &err));
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    assert_in_range(budget.peak / 1000000, 50, 128);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_grouped_by_row_and_sorted_within),
        cmocka_unit_test(an_empty_trace_is_a_trace),
        cmocka_unit_test(numbers_of_collectives_that_do_not_fit_count_as_not_given),
        cmocka_unit_test(groups_are_replaced_and_the_first_name_of_a_thread_counts),
        cmocka_unit_test(running_out_of_budget_fails_cleanly_wherever_it_happens),
        cmocka_unit_test(arguments_stay_with_their_events_and_equal_ones_are_kept_once),
        cmocka_unit_test(running_out_of_budget_for_arguments_fails_cleanly_too),
        cmocka_unit_test(a_million_events_of_a_training_step_take_at_most_128_bytes_each),
        cmocka_unit_test(a_million_kernels_take_at_most_128_bytes_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
