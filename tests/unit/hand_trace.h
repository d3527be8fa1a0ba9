// SPDX-License-Identifier: Apache-2.0
// Handmade traces, event by event, for tests of the analyses.
#ifndef TESTS_UNIT_HAND_TRACE_H
#define TESTS_UNIT_HAND_TRACE_H

#include "analysis/analysis.h"
#include "analysis/facts/facts.h"
#include "ingest/kineto/kineto_members.h"
#include "ingest/trace/trace_builder.h"
#include "tests/named_cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

struct hand {
    struct budget budget;
    struct trace_builder *builder;
    struct kineto_members members;
    struct trace *trace;
    struct arena arena;
    struct analysis_options options;
    struct facts facts;
    struct report report;
    struct err err;
};

// One event; fields not given are absent.
struct hand_event {
    enum event_kind kind;
    const char *name;
    int64_t begin_ns, dur_ns;
    int64_t pid, row;       // device and stream, or process and thread
    int64_t correlation;    // 0: none
    const char *collective; // of a kernel
    const char *dtype, *group;
    const char *ranks, *description; // of the group
    int64_t in_elems, out_elems, group_size;
    int64_t rank_start, rank_stride; // valid if the stride is not 0
    int64_t peer, peer_in_group;     // of a send or recv, plus 1; 0: none
    int32_t grid, block;
    int64_t bytes;
    enum copy_direction copies;                             // of a launch, with its bytes
    const char *dims, *types, *strides, *concrete, *module; // of an operator, JSON text
    int64_t sequence;                                       // of an operator or collective; 0: none
    // Of an allocation; device -1 is the host.
    int64_t address, allocated, reserved;
    int32_t device_type, device;
};

static inline str_id hand_text(struct hand *hand, const char *text)
{
    str_id id = 0;
    if (text)
        assert_true(
            strtab_intern(trace_builder_strings(hand->builder), str_of(text), &id, &hand->err));
    return id;
}

static inline void hand_begin(struct hand *hand)
{
    *hand = (struct hand){.options = {.warmup_steps = -1}};
    hand->builder = trace_builder_new(&hand->budget, &hand->err);
    assert_non_null(hand->builder);
    assert_true(kineto_members_init(&hand->members, &hand->budget, &hand->err));
    arena_init(&hand->arena, &hand->budget);
}

static inline void hand_add(struct hand *hand, struct hand_event event)
{
    struct event_record record = {
        .kind = event.kind,
        .name = hand_text(hand, event.name),
        .begin_ns = event.begin_ns,
        .dur_ns = event.dur_ns,
        .pid = {.number = event.pid},
        .tid = {.number = event.row},
        .correlation = event.correlation ? event.correlation : VALUE_ABSENT,
        .sequence = event.sequence ? event.sequence : VALUE_ABSENT,
        .inputs = {.dims = hand_text(hand, event.dims),
                   .types = hand_text(hand, event.types),
                   .strides = hand_text(hand, event.strides),
                   .concrete = hand_text(hand, event.concrete),
                   .module = hand_text(hand, event.module)},
        .copy = {.bytes = event.copies ? event.bytes : 0, .direction = event.copies},
        .memory = {.address = event.address,
                   .bytes = event.bytes,
                   .allocated = event.allocated,
                   .reserved = event.reserved,
                   .device_type = event.device_type,
                   .device = event.device},
        .shape = {.grid = {event.grid, event.grid ? 1 : 0, event.grid ? 1 : 0},
                  .block = {event.block, event.block ? 1 : 0, event.block ? 1 : 0},
                  .registers = -1,
                  .occupancy_percent = -1,
                  .shared_bytes = VALUE_ABSENT,
                  .bytes = event.bytes ? event.bytes : VALUE_ABSENT},
        .collective = {.name = hand_text(hand, event.collective),
                       .dtype = hand_text(hand, event.dtype),
                       .group = hand_text(hand, event.group),
                       .in_elems = event.in_elems ? event.in_elems : VALUE_ABSENT,
                       .out_elems = event.out_elems ? event.out_elems : VALUE_ABSENT,
                       .group_size = event.group_size ? event.group_size : VALUE_ABSENT,
                       .group_ranks = hand_text(hand, event.ranks),
                       .group_description = hand_text(hand, event.description),
                       .rank_start = event.rank_stride ? event.rank_start : VALUE_ABSENT,
                       .rank_stride = event.rank_stride ? event.rank_stride : VALUE_ABSENT,
                       .peer = event.peer ? event.peer - 1 : VALUE_ABSENT,
                       .peer_in_group =
                           event.peer_in_group ? event.peer_in_group - 1 : VALUE_ABSENT},
    };
    assert_true(trace_builder_add(hand->builder, &record, &hand->err));
}

// A kernel on device 0.
static inline void hand_kernel(struct hand *hand, const char *name, int64_t stream,
                               int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = name,
                                       .row = stream,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns});
}

// On the first thread of a process.
static inline void hand_host(struct hand *hand, enum event_kind kind, const char *name,
                             int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = kind,
                                       .name = name,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .pid = 1,
                                       .row = 1});
}

// A call of the runtime there.
static inline void hand_call(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns,
                             int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = name,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .pid = 1,
                                       .row = 1,
                                       .correlation = correlation});
}

static inline void hand_member(struct hand *hand, const char *key, const char *json)
{
    assert_true(kineto_members_keep(&hand->members, str_of(key), str_of(json), &hand->err));
}

static inline void hand_seal(struct hand *hand)
{
    assert_true(kineto_members_read(&hand->members, hand->builder, &hand->err));
    hand->trace = trace_builder_seal(hand->builder, &hand->err);
    hand->builder = NULL;
    assert_non_null(hand->trace);
    hand->report.arena = &hand->arena;
}

// Seals and computes the facts.
static inline void hand_facts(struct hand *hand)
{
    hand_seal(hand);
    assert_true(facts_make(hand->trace, &hand->options, &hand->arena, &hand->facts, &hand->err));
}

// Seals and runs all analyses.
static inline void hand_analyze(struct hand *hand)
{
    hand_seal(hand);
    assert_true(analyze_trace(hand->trace, &hand->options, &hand->report, &hand->err));
}

// Frees everything and checks that the budget is back to its start.
static inline void hand_end(struct hand *hand)
{
    arena_free(&hand->arena);
    trace_free(hand->trace);
    trace_builder_free(hand->builder);
    kineto_members_free(&hand->members);
    assert_int_equal(hand->budget.used, 0);
}

// Cells of a report table.
static inline const struct cell *hand_cell(const struct hand *hand, const char *table, size_t row,
                                           const char *column)
{
    const struct table *found = report_find(&hand->report, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static inline int64_t hand_i64(const struct hand *hand, const char *table, size_t row,
                               const char *column)
{
    const struct cell *cell = hand_cell(hand, table, row, column);
    assert_false(cell->null);
    return cell->i;
}

static inline const char *hand_word(const struct hand *hand, const char *table, size_t row,
                                    const char *column)
{
    const struct cell *cell = hand_cell(hand, table, row, column);
    return cell->null ? NULL : cell->s.at;
}

static inline size_t hand_rows(const struct hand *hand, const char *table)
{
    const struct table *found = report_find(&hand->report, table);
    return found ? found->row_count : 0;
}

// The first row with that value in a text column; fails the test if there is none.
static inline size_t hand_find(const struct hand *hand, const char *table, const char *column,
                               const char *value)
{
    for (size_t i = 0; i < hand_rows(hand, table); i++) {
        const char *word = hand_word(hand, table, i, column);
        if (word && strcmp(word, value) == 0)
            return i;
    }
    fail_msg("%s has no row with %s = %s", table, column, value);
    return 0;
}

#endif
