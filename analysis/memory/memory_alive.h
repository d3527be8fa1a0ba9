// SPDX-License-Identifier: Apache-2.0
// What was live at the peak, by operator and module.
#ifndef ANALYSIS_MEMORY_ALIVE_H
#define ANALYSIS_MEMORY_ALIVE_H

#include "analysis/memory/memory_curve.h"

// Adds the rows of one device; they sum exactly to the peak, because what the recorded blocks do
// not explain is a separate row. A release belongs to the last allocation at its address. *rest is
// that row's size; negative if releases are missing from the trace.
MUST_CHECK bool memory_alive_add(const struct facts *facts, const struct memory_curve *curve,
                                 struct memory_peak peak, struct report *report, int64_t *rest,
                                 struct err *err);

#endif
