// SPDX-License-Identifier: Apache-2.0
// The difference of two mean steps, down to operators and kernels.
#ifndef ANALYSIS_WATERFALL_H
#define ANALYSIS_WATERFALL_H

#include "analysis/parts.h"

// One run's side: its headline rank over the steady steps.
struct waterfall_side {
    const struct table *parts; // NULL when the run has no device events
    struct parts total;        // over all steady steps
    int64_t steps;             // 0 when there are none
    int64_t mean_ns;           // the mean step, rounded
};

// Writes compare_waterfall. matched_share is the part of both sides' device time in rows that an
// operator or a kernel name matched; 0 without device time.
MUST_CHECK bool waterfall_write(const struct waterfall_side sides[2], struct report *report,
                                double *matched_share, struct err *err);

// Splits a difference into what more or fewer calls make at the base's time per call, and the rest;
// the two sum to it. Times are per step, calls over `steps` steps.
struct waterfall_effects {
    int64_t calls_ns, per_call_ns;
};
struct waterfall_effects waterfall_split(const int64_t ns[2], const int64_t calls[2],
                                         const int64_t steps[2]);

#endif
