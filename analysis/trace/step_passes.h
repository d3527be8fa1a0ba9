// SPDX-License-Identifier: Apache-2.0
// When forward, backward and optimizer of each step ran on the device, and how often they
// alternated: the basis for a pipeline's bubble and micro-batches.
#ifndef ANALYSIS_STEP_PASSES_H
#define ANALYSIS_STEP_PASSES_H

#include "analysis/trace/comm_phase.h"

// Adds the table passes. Linear except for sorting.
MUST_CHECK bool step_passes_add(const struct facts *facts, const struct comm_phases *phases,
                                struct report *report, struct err *err);

#endif
