// SPDX-License-Identifier: Apache-2.0
// The facts of some of a trace's device events, so that an analysis can be run on a part of it.
#ifndef ANALYSIS_FACTS_WITHIN_H
#define ANALYSIS_FACTS_WITHIN_H

#include "analysis/facts/facts.h"

// chosen: their indices, ascending. The part has their launches and the calls of these, with owned
// times as in the whole; its busy time is the sum of them. Steps, modules, gaps and idle time stay
// those of the whole.
MUST_CHECK bool facts_within(const struct facts *facts, const uint32_t *chosen, uint32_t count,
                             struct arena *arena, struct facts *part, struct err *err);

#endif
