// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_recorded.h"

#include "analysis/report/recorded.h"
#include "analysis/report/tables.h"

bool run_judge_recorded(struct report *report, struct err *err)
{
    const struct table *summary = report_find(report, "summary");
    const struct table *logs = report_find(report, "logs");
    struct recorded_steps steps = {.other = "the median step of the log"};
    struct doubt doubt;
    if (summary && summary->row_count)
        steps.recorded_ns = table_i64(summary, 0, RUN_SUMMARY_STEP_MEDIAN_NS, 0);
    for (size_t i = 0; logs && i < logs->row_count; i++) {
        steps.other_ns = table_i64(logs, i, LOGS_STEP_MEDIAN_NS, 0);
        if (!recorded_doubt(report, &steps, &doubt, err))
            return false;
        if (doubt.count)
            return doubt_add_of_run(report, &doubt, err);
    }
    return true;
}
