// SPDX-License-Identifier: Apache-2.0
// Whether the profiler slowed a job down: compares its steps while it was recorded with the others.
#ifndef ANALYSIS_RECORDED_H
#define ANALYSIS_RECORDED_H

#include "analysis/report/trust.h"

struct recorded_steps {
    int64_t recorded_ns, other_ns; // a median step of each, 0 unknown
    const char *other;             // what other_ns is: "the median step of the log"
};

// Fills the doubt; its count is 0 unless the recorded steps are clearly longer. Texts live in the
// report's arena.
MUST_CHECK bool recorded_doubt(struct report *report, const struct recorded_steps *steps,
                               struct doubt *doubt, struct err *err);

#endif
