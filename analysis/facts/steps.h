// SPDX-License-Identifier: Apache-2.0
// Steps on the device, and which of them are steady.
#ifndef ANALYSIS_STEPS_H
#define ANALYSIS_STEPS_H

#include "analysis/facts/facts.h"

// Fills steps, step_count, steady_count, marked, and device_event.step. Needs window and links.
MUST_CHECK bool steps_make(struct facts *facts, struct err *err);

// Decides which steps are steady, by the warm-up rule or, if warmup_steps >= 0, by that number.
// Steps with a reason already set stay out. At least one step stays.
MUST_CHECK bool steps_choose(struct step *steps, uint32_t count, int warmup_steps,
                             struct budget *budget, struct err *err);

enum steady_part { STEADY_ALL, STEADY_EARLY, STEADY_LATE };

// The median window of the steady steps, the same as in step_stats, or of those that are early or
// not; 0 without one. Needs step_parts.
MUST_CHECK bool steps_median_ns(const struct facts *facts, enum steady_part part,
                                int64_t *median_ns, struct err *err);

// Index of the step whose mark covers the host time, or FACTS_NONE.
uint32_t steps_marked_at(const struct facts *facts, int64_t time_ns);

// Index of the step that covers the device time, or FACTS_NONE.
uint32_t steps_at(const struct facts *facts, int64_t time_ns);

#endif
