// SPDX-License-Identifier: Apache-2.0
// The idle gaps of all devices merged, as cut by the steady steps.
#ifndef ANALYSIS_STEP_GAPS_H
#define ANALYSIS_STEP_GAPS_H

#include "analysis/facts/gaps.h"

typedef void step_gap_visitor(void *context, const struct gap *gap, int64_t length_ns);

// Calls visit for each piece of a gap that is in a steady step, in time order; a gap occurs several
// times in a row if a step starts within it. Linear.
void step_gaps_visit(const struct facts *facts, step_gap_visitor *visit, void *context);

#endif
