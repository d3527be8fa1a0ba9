// SPDX-License-Identifier: Apache-2.0
// What was alive when the most was allocated, by operator and module.
#ifndef ANALYSIS_MEMORY_ALIVE_H
#define ANALYSIS_MEMORY_ALIVE_H

#include "analysis/memory/memory_curve.h"

// Adds the rows of one device; they sum to the peak exactly, because what the recorded blocks do
// not explain is a row of its own. A release belongs to the last allocation at its address. *rest
// is that row's size; below 0 when releases are missing from the trace.
MUST_CHECK bool memory_alive_add(const struct facts *facts, const struct memory_curve *curve,
                                 struct memory_peak peak, struct report *report, int64_t *rest,
                                 struct err *err);

#endif
