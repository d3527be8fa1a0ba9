// SPDX-License-Identifier: Apache-2.0
// When the profiler was busy with itself, as far as recorded; and when code was loaded, which the
// profiler records as overhead although it also happens without one.
#ifndef ANALYSIS_OVERHEADS_H
#define ANALYSIS_OVERHEADS_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

// Merged if they overlap; the event is the first of the stretch.
struct overhead {
    int64_t begin_ns, end_ns;
    uint32_t event;
};

enum overhead_kind {
    OVERHEAD_PROFILER,
    OVERHEAD_LOADING, // lazy loading of functions and modules, compilation by the driver
    OVERHEAD_OTHER,   // neither: the driver's queue of commands was full
};

struct overheads {
    struct overhead *items; // in order of time, disjoint
    uint32_t count;
};

// What kind of overhead a row of the category is.
enum overhead_kind overhead_kind_of(const struct trace *trace, uint32_t event);

MUST_CHECK bool overheads_make(const struct trace *trace, enum overhead_kind kind,
                               struct arena *arena, struct overheads *overheads, struct err *err);

#endif
