// SPDX-License-Identifier: Apache-2.0
// Whether memory grows from step to step.
#ifndef ANALYSIS_MEMORY_LEAK_H
#define ANALYSIS_MEMORY_LEAK_H

#include "analysis/memory/memory_curve.h"
#include "analysis/stats/theil_sen.h"

// From the minimum of allocated bytes in each steady step. Allocations are host events, so steps
// last as long as their marks there; on the device a step would start later, after its first
// allocations.
struct memory_leak {
    uint32_t steps;        // that it is based on
    struct theil_sen line; // bytes per step
    int64_t growth_bytes;  // minimum of the last step minus that of the first; 0 below two steps
    bool known, leaks;     // known: there is an interval
    const char *note;      // why it is unknown, NULL if it is known
};

// If there are more than THEIL_SEN_MAX_POINTS steady steps, that many are used, evenly spread.
MUST_CHECK bool memory_leak_make(const struct facts *facts, const struct memory_curve *curve,
                                 struct memory_leak *leak, struct err *err);

#endif
