// SPDX-License-Identifier: Apache-2.0
// What recording costs, by the clock of the hook: it says in the file how long steps took before.
#include "analysis/facts/steps.h"
#include "analysis/report/recorded.h"
#include "analysis/trace/trust_host.h"

bool doubts_add_recorded(const struct facts *facts, struct report *report, struct err *err)
{
    const struct trace_setting *hook = trace_setting_find(facts->trace, STR(TRUST_PLAIN_STEP));
    struct recorded_steps steps = {.other =
                                       "the median step that the hook timed without the profiler"};
    struct doubt slower;
    if (!hook || hook->number == VALUE_ABSENT || !facts->marked || !facts->steady_count)
        return true;
    steps.other_ns = hook->number;
    return steps_median_ns(facts, &steps.recorded_ns, err) &&
           recorded_doubt(report, &steps, &slower, err) &&
           (!slower.count || doubt_add(report, &slower, err));
}
