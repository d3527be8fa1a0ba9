// SPDX-License-Identifier: Apache-2.0
// The step that the host was in.
#ifndef ANALYSIS_MARKED_STEP_H
#define ANALYSIS_MARKED_STEP_H

#include "analysis/facts/facts.h"
#include "ingest/base/search.h"

// Index of the step whose mark covers the host time, or FACTS_NONE.
static inline uint32_t marked_step_at(const struct facts *facts, int64_t time_ns)
{
    uint32_t after = count_upto_i64(FIRST_OF(facts->steps, mark_begin_ns), facts->step_count,
                                    sizeof *facts->steps, time_ns);
    bool inside = after && time_ns < facts->steps[after - 1].mark_end_ns;
    return inside ? after - 1 : FACTS_NONE;
}

#endif
