// SPDX-License-Identifier: Apache-2.0
// When the profiler was busy with itself, as far as it recorded that.
#ifndef ANALYSIS_OVERHEADS_H
#define ANALYSIS_OVERHEADS_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

// Joined where they overlap; the event is the first one of the stretch.
struct overhead {
    int64_t begin_ns, end_ns;
    uint32_t event;
};

struct overheads {
    struct overhead *items; // in order of time, disjoint
    uint32_t count;
};

MUST_CHECK bool overheads_make(const struct trace *trace, struct arena *arena,
                               struct overheads *overheads, struct err *err);

#endif
