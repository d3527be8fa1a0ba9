// SPDX-License-Identifier: Apache-2.0
// A window of a trace for drawing, read from an open trace file: few blocks whatever its width.
#ifndef INGEST_TRACE_TIMELINE_H
#define INGEST_TRACE_TIMELINE_H

#include "ingest/base/arena.h"
#include "ingest/trace/slice.h"
#include "ingest/trace/trace_file_open.h"

#define TIMELINE_MIN_PX 16u
#define TIMELINE_LANES  ((size_t)512) // nobody looks at more; hostile files have millions

// Times as in the trace; see trace_file_header for its bounds.
struct timeline_query {
    int64_t from_ns, to_ns; // from < to
    uint32_t px;            // most slices in a row, at least TIMELINE_MIN_PX
    uint32_t rows;          // of a track, 1..TIMELINE_ROWS; deeper nesting is left out
    bool device_only;       // streams and their annotations
};

// A track with events. Its slices are first .. first + count - 1, by row, then by time.
struct timeline_lane {
    struct track track; // checked
    uint32_t number;    // of the track in the file
    uint32_t rows;      // with slices in the window
    size_t first, count;
};

struct timeline {
    int64_t resolution_ns; // slices that together last at most this long are merged
    struct timeline_lane *lanes;
    size_t lane_count;
    size_t lanes_left_out; // beyond TIMELINE_LANES, those with the fewest events
    struct slice *slices;
    size_t slice_count;
    struct str *names; // indexed by slice.name
    size_t name_count;
};

// Reads what overlaps the window. The result lives in arena. A slice of one event has its exact
// times; any two neighbors on a row together last longer than resolution_ns. ERR_FORMAT if the
// file is damaged.
MUST_CHECK bool timeline_read(const struct trace_file *file, const struct timeline_query *query,
                              struct arena *arena, struct timeline *timeline, struct err *err);

#endif
