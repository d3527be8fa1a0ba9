// SPDX-License-Identifier: Apache-2.0
// Ranks that came to a collective so late that the others had given up. Each is measured by its own
// clock, from its previous call.
#ifndef ANALYSIS_HANGS_HANG_LATE_H
#define ANALYSIS_HANGS_HANG_LATE_H

#include "analysis/hangs/hang_judge.h"

struct hang_late {
    int64_t *ranks;              // ascending
    size_t count;                // 0: none, or most of them
    int64_t away_ns, timeout_ns; // of the one that was away longest
};

// Finds those of a collective that all members have entered. ERR_LIMIT past the arena's budget.
MUST_CHECK bool hang_late_find(const struct hang_job *job, const struct hang_case *one,
                               struct hang_late *late, struct err *err);

#endif
