// SPDX-License-Identifier: Apache-2.0
// Whether two sealed traces are equal in every column, table, text, index and count.
#ifndef TESTS_UNIT_SAME_TRACE_H
#define TESTS_UNIT_SAME_TRACE_H

#include "ingest/trace/trace.h"

static inline bool same_bytes(const void *a, uint64_t a_count, const void *b, uint64_t b_count,
                              size_t size)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * size) == 0);
}

static inline bool same_tracks(const struct trace *a, const struct trace *b)
{
    if (a->track_count != b->track_count)
        return false;
    for (uint32_t i = 0; i < a->track_count; i++) {
        const struct track *x = &a->tracks[i], *y = &b->tracks[i];
        if (x->family != y->family || x->first != y->first || x->count != y->count ||
            x->name != y->name || x->pid.number != y->pid.number || x->pid.text != y->pid.text ||
            x->tid.number != y->tid.number || x->tid.text != y->tid.text)
            return false;
    }
    return true;
}

static inline bool same_texts(const struct strtab *a, const struct strtab *b)
{
    return same_bytes(a->text, a->text_len, b->text, b->text_len, 1) &&
           same_bytes(a->span, a->count, b->span, b->count, sizeof *a->span);
}

// NULL if they are, else what differs.
static inline const char *trace_difference(const struct trace *a, const struct trace *b)
{
#define DIFFERS(column, count) \
    (!same_bytes(a->column, a->count, b->column, b->count, sizeof *a->column))
    return DIFFERS(begin_ns, event_count)                      ? "begin_ns"
           : DIFFERS(dur_ns, event_count)                      ? "dur_ns"
           : DIFFERS(name, event_count)                        ? "name"
           : DIFFERS(kind, event_count)                        ? "kind"
           : DIFFERS(args, event_count)                        ? "args"
           : DIFFERS(device_args, device_args_count)           ? "device_args"
           : DIFFERS(comms_ids, comms_id_count)                ? "comms_ids"
           : DIFFERS(launch_args, launch_args_count)           ? "launch_args"
           : DIFFERS(op_args, op_args_count)                   ? "op_args"
           : DIFFERS(memory_args, memory_args_count)           ? "memory_args"
           : DIFFERS(shapes, shape_count)                      ? "shapes"
           : DIFFERS(collectives, collective_count)            ? "collectives"
           : DIFFERS(copy_calls, copy_call_count)              ? "copy_calls"
           : DIFFERS(op_inputs, op_inputs_count)               ? "op_inputs"
           : DIFFERS(counters, counter_count)                  ? "counters"
           : DIFFERS(counter_samples, counter_sample_count)    ? "counter_samples"
           : DIFFERS(devices, device_count)                    ? "devices"
           : DIFFERS(groups, group_count)                      ? "groups"
           : DIFFERS(settings, setting_count)                  ? "settings"
           : memcmp(&a->job, &b->job, sizeof a->job)           ? "job"
           : !same_tracks(a, b)                                ? "tracks"
           : !same_texts(&a->strings, &b->strings)             ? "strings"
           : memcmp(a->repairs, b->repairs, sizeof a->repairs) ? "repairs"
           : a->input_events != b->input_events                ? "input_events"
           : a->text_bytes != b->text_bytes                    ? "text_bytes"
                                                               : NULL;
#undef DIFFERS
}

#endif
