// SPDX-License-Identifier: Apache-2.0
// Whether two sides did the same work: only then one of them is faster.
#ifndef ANALYSIS_COMPARE_WORK_H
#define ANALYSIS_COMPARE_WORK_H

#include "analysis/compare/compare_pair.h"

// Means over a side's runs; NaN where no run knows.
struct side_work {
    double flops_per_step; // of matrix products, attention and convolutions, without recomputation
    double flops_time_share; // of their time that has its operations worked out
    double unknown_share;    // of matrix products' time, of which no precision is known
};

struct compare_work {
    // Of both sides' device time, in rows that operator, shapes and types matched (the operator
    // alone where a side has no shapes of it; the kernel's name without an operator) and that run
    // as often per step, give or take a tenth. NaN without any device time.
    double same_share;
    bool is_same; // the share is 0.8 and more, or as many operations are known to be done
    struct side_work sides[SIDES];
};

// Reads the pair's waterfall, which must be written, and its runs' parts and metrics. ERR_MEMORY.
MUST_CHECK bool compare_work_read(const struct pair *pair, struct compare_work *work,
                                  struct err *err);

#endif
