// SPDX-License-Identifier: Apache-2.0
// How long the host was in calls that wait for the device.
#ifndef ANALYSIS_COMM_BLOCKED_H
#define ANALYSIS_COMM_BLOCKED_H

#include "analysis/facts/facts.h"

struct comm_blocked {
    struct stretch_blocked {
        int64_t begin_ns, end_ns;
        int64_t before_ns; // sum of the earlier ones
    } * stretches;         // ascending, disjoint
    uint32_t count;
};

// Over all threads, without overlap. Arrays live in arena.
MUST_CHECK bool comm_blocked_make(const struct facts *facts, struct arena *arena,
                                  struct comm_blocked *blocked, struct err *err);

// Up to a time in the trace.
int64_t comm_blocked_until(const struct comm_blocked *blocked, int64_t time_ns);

#endif
