// SPDX-License-Identifier: Apache-2.0
// Ranks that entered the collectives of two process groups in different orders, so that each side
// waits for the other.
#ifndef ANALYSIS_HANGS_HANG_ORDER_H
#define ANALYSIS_HANGS_HANG_ORDER_H

#include "analysis/hangs/hang_judge.h"

struct hang_order {
    int64_t *ranks; // ascending: the side with fewer, or both
    size_t count;   // 0: none
    bool tie;
    bool gave_up;                       // there were too many groups and ranks to look at all
    const struct hang_dump *odd, *most; // one of each side
};

// Finds those of the first process group in which that is seen. ERR_LIMIT past the arena's budget.
MUST_CHECK bool hang_order_find(const struct hang_job *job, const struct hang_cases *cases,
                                struct hang_order *order, struct err *err);

#endif
