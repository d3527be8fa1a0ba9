// SPDX-License-Identifier: Apache-2.0
// One pass over gaps and steps, which both ascend and are disjoint.
#include "analysis/trace/step_gaps.h"

void step_gaps_visit(const struct facts *facts, step_gap_visitor *visit, void *context)
{
    if (facts->step_count == 0)
        return; // nor an array of them
    const struct step *step = facts->steps, *end = facts->steps + facts->step_count;
    for (uint32_t i = 0; i < facts->gaps.count; i++) {
        const struct gap *gap = &facts->gaps.gaps[i];
        while (step < end && step->end_ns <= gap->begin_ns)
            step++;
        for (const struct step *at = step; at < end && at->begin_ns < gap->end_ns; at++) {
            int64_t begin_ns = at->begin_ns > gap->begin_ns ? at->begin_ns : gap->begin_ns;
            int64_t end_ns = at->end_ns < gap->end_ns ? at->end_ns : gap->end_ns;
            if (at->steady && begin_ns < end_ns)
                visit(context, gap, end_ns - begin_ns);
        }
    }
}
