// SPDX-License-Identifier: Apache-2.0
// The difference between two mean steps, down to operators, shapes and kernels.
#ifndef ANALYSIS_WATERFALL_H
#define ANALYSIS_WATERFALL_H

#include "analysis/compare/compare_pair.h"

// Writes compare_waterfall. matched is set to the device time per step of both sides by the ladder
// rung that matched it, in ns. ERR_FORMAT if a run's parts sum to more than its breakdown.
MUST_CHECK bool waterfall_write(const struct pair *pair, double matched[RUNG_COUNT],
                                struct err *err);

// Splits a difference into the effect of more or fewer calls at the base's time per call, and the
// rest; the two sum to it. Times and calls are per step.
struct waterfall_effects {
    int64_t calls_ns, per_call_ns;
};
struct waterfall_effects waterfall_split(const int64_t ns[SIDES], const double calls[SIDES]);

#endif
