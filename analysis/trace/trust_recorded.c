// SPDX-License-Identifier: Apache-2.0
// What recording costs, by the clock of the hook: it says in the file how long steps took before.
#include "analysis/trace/trust_host.h"

#include "analysis/report/recorded.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

// Of the steady steps.
static bool median_step(const struct facts *facts, struct arena *scratch, int64_t *median_ns,
                        struct err *err)
{
    size_t count = 0;
    int64_t *values = arena_array(scratch, 2 * (size_t)facts->steady_count, sizeof *values, err);
    if (!values)
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (facts->steps[s].steady)
            values[count++] = parts_window_ns(&facts->step_parts[s]);
    sort_i64(values, values + count, count);
    *median_ns = stats_median(values, count);
    return true;
}

bool doubts_add_recorded(const struct facts *facts, struct arena *scratch, struct report *report,
                         struct err *err)
{
    const struct trace_setting *hook = trace_setting_find(facts->trace, STR(TRUST_PLAIN_STEP));
    struct recorded_steps steps = {.other =
                                       "the median step that the hook timed without the profiler"};
    struct doubt slower;
    if (!hook || hook->number == VALUE_ABSENT || !facts->marked || !facts->steady_count)
        return true;
    steps.other_ns = hook->number;
    return median_step(facts, scratch, &steps.recorded_ns, err) &&
           recorded_doubt(report, &steps, &slower, err) &&
           (!slower.count || doubt_add(report, &slower, err));
}
