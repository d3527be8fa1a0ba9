// SPDX-License-Identifier: Apache-2.0
// A track seen from afar: its events on rows, and levels of ever wider merged slices.
#ifndef INGEST_TRACE_TIMELINE_LEVELS_H
#define INGEST_TRACE_TIMELINE_LEVELS_H

#include "ingest/trace/slice.h"
#include "ingest/trace/trace.h"

#define TIMELINE_LEVELS 40

struct timeline_level {
    int64_t width_ns;
    struct slice *slices; // each row's in time order, rows interleaved
    size_t count, cap;
    struct slice *open; // the last slice of each row, which may still grow
    uint64_t is_open;   // a bit per row
};

struct timeline_levels {
    uint8_t *rows; // per event of the track, as in SECTION_ROW
    struct timeline_level level[TIMELINE_LEVELS];
    uint32_t level_count;
};

// Puts the track's events on rows and merges them in one pass; each level is twice as wide as the
// one before. Tracks with few events get no levels. Free the levels even after a failure
// (ERR_LIMIT).
MUST_CHECK bool timeline_levels_make(const struct trace *trace, const struct track *track,
                                     struct timeline_levels *levels, struct err *err);
void timeline_levels_free(struct timeline_levels *levels);

#endif
