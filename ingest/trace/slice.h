// SPDX-License-Identifier: Apache-2.0
// A slice of the timeline: one event, or neighbors on a row that are too narrow to tell apart.
#ifndef INGEST_TRACE_SLICE_H
#define INGEST_TRACE_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "ingest/trace/strtab.h"

struct slice {
    int64_t begin_ns, end_ns; // of the first and the last event
    int64_t busy_ns;          // sum of the durations
    int64_t longest_ns;       // of the event that gives name and kind
    str_id name;
    uint32_t count;  // of events
    uint8_t kind;    // enum event_kind
    uint8_t row;     // nesting depth, or how many events of the stream were already running
    bool collective; // a device event with collective metadata
};

// Merges the next slice of the row into a slice if both together last at most width_ns.
static inline bool slice_merge(struct slice *slice, const struct slice *next, int64_t width_ns)
{
    if (next->end_ns - slice->begin_ns > width_ns)
        return false;
    if (next->end_ns > slice->end_ns)
        slice->end_ns = next->end_ns;
    if (__builtin_add_overflow(slice->busy_ns, next->busy_ns, &slice->busy_ns))
        slice->busy_ns = INT64_MAX;
    if (__builtin_add_overflow(slice->count, next->count, &slice->count))
        slice->count = UINT32_MAX;
    if (next->longest_ns > slice->longest_ns) {
        slice->longest_ns = next->longest_ns;
        slice->name = next->name;
        slice->kind = next->kind;
        slice->collective = next->collective;
    }
    return true;
}

#endif
