// SPDX-License-Identifier: Apache-2.0
// Whether memory grows from step to step.
#ifndef ANALYSIS_MEMORY_LEAK_H
#define ANALYSIS_MEMORY_LEAK_H

#include "analysis/memory/memory_curve.h"
#include "analysis/stats/theil_sen.h"

#define MEMORY_LEAK_BYTES 1000000 // growth up to this is no leak

// From the least allocated bytes of each steady step. Allocations are events of the host, so a step
// lasts as its mark does there; on the device it would begin later, after its first allocations.
struct memory_leak {
    uint32_t steps;        // that it stands on
    struct theil_sen line; // bytes per step
    int64_t growth_bytes;  // least of the last step less that of the first; 0 below two steps
    bool known, leaks;     // known: there is an interval
    const char *note;      // why it is not known, NULL when it is
};

// Of more than THEIL_SEN_MAX_POINTS steady steps that many, evenly spread, count.
MUST_CHECK bool memory_leak_make(const struct facts *facts, const struct memory_curve *curve,
                                 struct memory_leak *leak, struct err *err);

#endif
