// SPDX-License-Identifier: Apache-2.0
// Whether two sides did the same work: only then can one of them be faster.
#ifndef ANALYSIS_COMPARE_WORK_H
#define ANALYSIS_COMPARE_WORK_H

#include "analysis/compare/compare_pair.h"

// Below this share, parts of the two sides are hardly comparable.
#define COMPARE_SAME_SHARE 0.8

// Means over a side's runs; NaN if unknown in every run.
struct side_work {
    double flops_per_step; // of matrix products, attention and convolutions, without recomputation
    double flops_time_share; // share of their time with known operations
    double unknown_share;    // share of matrix products' time with unknown precision
};

struct compare_work {
    // Share of both sides' device time in rows that match by operator, shapes and types (by
    // operator only if a side has no shapes for it; by kernel name without an operator) and run
    // equally often per step, within a tenth. NaN without any device time.
    double same_share;
    bool is_same; // the share is at least 0.8, or the operation counts are known and equal
    struct side_work sides[SIDES];
};

// Reads the pair's waterfall, which must be written already, and its runs' parts and metrics.
// ERR_MEMORY.
MUST_CHECK bool compare_work_read(const struct pair *pair, struct compare_work *work,
                                  struct err *err);

#endif
