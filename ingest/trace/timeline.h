// SPDX-License-Identifier: Apache-2.0
// A window of a trace as a picture shows it, read from an open trace file: few blocks at any width.
#ifndef INGEST_TRACE_TIMELINE_H
#define INGEST_TRACE_TIMELINE_H

#include "ingest/base/arena.h"
#include "ingest/trace/slice.h"
#include "ingest/trace/trace_file_open.h"

#define TIMELINE_MIN_PX 16u
#define TIMELINE_LANES \
    ((size_t)512) // at most; nobody looks at more, and hostile files have millions

// Times as in the trace; see trace_file_header for its begin and end.
struct timeline_query {
    int64_t from_ns, to_ns; // from < to
    uint32_t px;            // slices of a row at most, TIMELINE_MIN_PX or more
    uint32_t rows;          // of a track, 1..TIMELINE_ROWS; what is nested deeper is left out
    bool device_only;       // streams and their annotations
};

// A track with events. Slices first .. first + count - 1 are in its rows, by row, then by time.
struct timeline_lane {
    struct track track; // checked
    uint32_t rows;      // with slices in the window
    size_t first, count;
};

struct timeline {
    int64_t resolution_ns; // slices that together last no longer are merged
    struct timeline_lane *lanes;
    size_t lane_count;
    size_t lanes_left_out; // beyond TIMELINE_LANES, those with the fewest events
    struct slice *slices;
    size_t slice_count;
    struct str *names; // slices name them by position: slice.name is an index here
    size_t name_count;
};

// Reads what lies in the window, in whole or in part. The result lives in arena. A slice of one
// event has its exact times; any two neighbours on a row last longer than resolution_ns together.
// ERR_FORMAT when the file is damaged.
MUST_CHECK bool timeline_read(const struct trace_file *file, const struct timeline_query *query,
                              struct arena *arena, struct timeline *timeline, struct err *err);

#endif
