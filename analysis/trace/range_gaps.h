// SPDX-License-Identifier: Apache-2.0
// The longest idle gaps inside ranges.
#ifndef ANALYSIS_RANGE_GAPS_H
#define ANALYSIS_RANGE_GAPS_H

#include "analysis/report/report.h"
#include "analysis/trace/range_tree.h"

enum { RANGE_GAPS_MOST = 32 }; // ranges

struct range_gaps {
    const struct table *rows; // of idle_gaps, the longest first; NULL: none
    const uint32_t *sets;     // per row: bits of the ranges that it is in
};

// names: those of the ranges, at most RANGE_GAPS_MOST. A gap is inside a range if it is between the
// first and the last device event of a call. Memory is the tree's.
MUST_CHECK bool range_gaps_make(const struct range_tree *tree, const uint32_t *names,
                                unsigned count, struct range_gaps *gaps, struct err *err);

#endif
