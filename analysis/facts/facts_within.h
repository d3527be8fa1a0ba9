// SPDX-License-Identifier: Apache-2.0
// The facts of some of a trace's device events, so that an analysis can be run on a part of it.
#ifndef ANALYSIS_FACTS_WITHIN_H
#define ANALYSIS_FACTS_WITHIN_H

#include "analysis/facts/facts.h"

#include <assert.h>

struct facts_part {
    struct facts facts; // first, so that an analysis finds the rest
    const struct facts *of;
    const uint32_t *chosen;      // per device event of the part: its index in `of`
    const int64_t *free_ns;      // per device event of `of`: since when its stream was free
    const uint32_t *memory_sets; // per event of the trace: bits of the parts of an allocation
    uint32_t memory_bit;         // the bit of this part
};

// chosen: ascending, which the part keeps. It has their launches and the calls of these, with owned
// times as in the whole; its busy time is the sum of them. Steps, modules, gaps and idle time stay
// those of the whole. What follows chosen is left to the caller (streams.h, range_memory.h).
MUST_CHECK bool facts_within(const struct facts *facts, const uint32_t *chosen, uint32_t count,
                             struct arena *arena, struct facts_part *part, struct err *err);

// What facts with is_part are a part of.
static inline const struct facts_part *facts_part(const struct facts *facts)
{
    assert(facts->is_part);
    return (const struct facts_part *)facts;
}

#endif
