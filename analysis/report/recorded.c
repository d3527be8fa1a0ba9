// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/recorded.h"

#include "analysis/stats/time_text.h"

// Beyond MOST_SLOWER they are not the same steps.
#define LEAST_SLOWER 1.1
#define MOST_SLOWER  3.0

bool recorded_doubt(struct report *report, const struct recorded_steps *steps, struct doubt *doubt,
                    struct err *err)
{
    double ratio = steps->other_ns > 0 ? (double)steps->recorded_ns / (double)steps->other_ns : 0;
    *doubt = (struct doubt){
        .item = "recorded_slower",
        .severity = "warning",
        .count = ratio >= LEAST_SLOWER && ratio <= MOST_SLOWER,
        .effect = "the profiler slows the host: waits for the host, and gains from making it "
                  "faster, are overstated by up to the difference; kernels take as long as "
                  "without it"};
    if (!doubt->count)
        return true;
    doubt->detail =
        arena_printf(report->arena, err, "steps take %.0f %% longer in the trace, %s, than %s, %s",
                     100 * (ratio - 1), time_text(steps->recorded_ns).text, steps->other,
                     time_text(steps->other_ns).text);
    return doubt->detail != NULL;
}
