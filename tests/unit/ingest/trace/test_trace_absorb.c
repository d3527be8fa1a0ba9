// SPDX-License-Identifier: Apache-2.0
// A trace collected in parts equals the trace collected in one go.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/trace/trace_builder.h"
#include "tests/tracegen/splitmix.h"
#include "tests/unit/same_trace.h"

static str_id random_text(struct trace_builder *builder, struct splitmix *random)
{
    char text[24];
    struct err err;
    str_id id;
    uint64_t r = splitmix_next(random) % 40;
    int len = r < 4 ? 0 : snprintf(text, sizeof text, "text %d", (int)r);
    assert_true(
        strtab_intern(trace_builder_strings(builder), (struct str){text, (size_t)len}, &id, &err));
    return id;
}

static struct label random_label(struct trace_builder *builder, struct splitmix *random)
{
    uint64_t r = splitmix_next(random);
    if (r % 8 == 0)
        return (struct label){VALUE_ABSENT, random_text(builder, random)};
    return (struct label){(int64_t)(r >> 8) % 5, 0};
}

static void add_event(struct trace_builder *builder, struct splitmix *random)
{
    struct err err;
    uint64_t r = splitmix_next(random);
    struct event_record event = {
        .kind = (enum event_kind)(r % EVENT_KIND_COUNT),
        .name = random_text(builder, random),
        .begin_ns = (int64_t)(r >> 8 & 0xFFFF) - 100,
        .dur_ns = (int64_t)(r >> 24 & 0xFF),
        .pid = random_label(builder, random),
        .tid = random_label(builder, random),
        .correlation = (int64_t)(r >> 32 & 0xFF),
        .sequence = r >> 40 & 1 ? VALUE_ABSENT : (int64_t)(r >> 41 & 0xFF),
        .shape = {.registers = (int32_t)(r >> 50 & 7)},
        .copy = {.bytes = r >> 53 & 1 ? 64 : 0, .direction = r >> 54 & 1},
        .memory = {.address = (int64_t)r},
    };
    if (r >> 55 & 1)
        event.collective = (struct collective){.name = random_text(builder, random),
                                               .group = random_text(builder, random),
                                               .in_elems = (int64_t)(r >> 56 & 3)};
    if (r >> 58 & 1)
        event.inputs = (struct op_inputs){.dims = random_text(builder, random),
                                          .module = random_text(builder, random)};
    assert_true(trace_builder_add(builder, &event, &err));
}

static void add_anything(struct trace_builder *builder, struct splitmix *random, uint64_t pos)
{
    struct err err;
    uint64_t r = splitmix_next(random) % 100;
    if (r == 0)
        assert_true(trace_builder_name_thread(builder, random_label(builder, random),
                                              random_label(builder, random),
                                              random_text(builder, random), &err));
    else if (r == 1)
        trace_builder_repair(builder, (enum repair)(splitmix_next(random) % REPAIR_COUNT), pos);
    else
        add_event(builder, random);
}

static struct trace *collect_whole(struct budget *budget, uint64_t seed, uint64_t count)
{
    struct err err;
    struct splitmix random = {seed};
    struct trace_builder *builder = trace_builder_new(budget, &err);
    assert_non_null(builder);
    for (uint64_t i = 0; i < count; i++)
        add_anything(builder, &random, i);
    return trace_builder_seal(builder, &err);
}

// Same, in runs of random length that go into the whole itself or into one of three parts.
static struct trace *collect_in_parts(struct budget *budget, uint64_t seed, uint64_t count,
                                      uint64_t longest)
{
    struct err err;
    struct splitmix random = {seed}, cuts = {seed + 1};
    struct trace_builder *builders[4];
    for (size_t i = 0; i < 4; i++)
        assert_non_null(builders[i] = trace_builder_new(budget, &err));
    for (uint64_t i = 0; i < count;) {
        uint64_t until = i + splitmix_next(&cuts) % longest, to = splitmix_next(&cuts) % 4;
        for (; i < count && i < until; i++)
            add_anything(builders[to], &random, i);
        if (to > 0)
            assert_true(trace_builder_absorb(builders[0], builders[to], &err));
    }
    for (size_t i = 1; i < 4; i++)
        trace_builder_free(builders[i]);
    struct cores cores;
    cores_init(&cores, 3);
    trace_builder_use(builders[0], &cores);
    return trace_builder_seal(builders[0], &err);
}

static void check(uint64_t seed, uint64_t count, uint64_t longest)
{
    struct budget budget = {0};
    struct trace *whole = collect_whole(&budget, seed, count);
    struct trace *parts = collect_in_parts(&budget, seed, count, longest);
    assert_non_null(whole);
    assert_non_null(parts);
    const char *difference = trace_difference(whole, parts);
    if (difference)
        fail_msg("seed %d: %s differs", (int)seed, difference);
    trace_free(whole);
    trace_free(parts);
    assert_int_equal(budget.used, 0);
}

static void a_trace_in_short_parts_is_the_trace_in_one(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++)
        check(seed, seed * 20, 40);
}

static void a_trace_in_parts_of_several_chunks_is_the_trace_in_one(void **state)
{
    (void)state;
    check(100, 200000, 90000);
    check(101, 150000, 9000);
}

static void an_empty_part_changes_nothing(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    struct trace_builder *part = trace_builder_new(&budget, &err);
    assert_true(trace_builder_absorb(builder, part, &err));
    assert_int_equal(trace_builder_last_ns(builder), 0);
    trace_builder_free(part);
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    assert_int_equal(trace->event_count, 0);
    assert_int_equal(trace->strings.count, 1);
    trace_free(trace);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_in_short_parts_is_the_trace_in_one),
        cmocka_unit_test(a_trace_in_parts_of_several_chunks_is_the_trace_in_one),
        cmocka_unit_test(an_empty_part_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
