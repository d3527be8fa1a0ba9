// SPDX-License-Identifier: Apache-2.0
// Whether the profiler slowed the job down: steps of the trace against those that a log of the run
// timed without it.
#include "analysis/run/run_recorded.h"

#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "analysis/stats/time_text.h"

// Beyond the most, the steps of the two are not the same.
#define LEAST_SLOWER 1.1
#define MOST_SLOWER  3.0

bool run_judge_recorded(struct report *report, struct err *err)
{
    const struct table *summary = report_find(report, "summary");
    const struct table *logs = report_find(report, "logs");
    int64_t trace_ns =
        summary && summary->row_count ? table_i64(summary, 0, RUN_SUMMARY_STEP_MEDIAN_NS, 0) : 0;
    for (size_t i = 0; logs && i < logs->row_count; i++) {
        int64_t log_ns = table_i64(logs, i, LOGS_STEP_MEDIAN_NS, 0);
        double ratio = log_ns > 0 ? (double)trace_ns / (double)log_ns : 0;
        if (ratio < LEAST_SLOWER || ratio > MOST_SLOWER)
            continue;
        struct doubt doubt = {
            .item = "recorded_slower",
            .severity = "warning",
            .count = 1,
            .effect = "the profiler slows the host: waits for the host, and gains from making it "
                      "faster, are overstated by up to the difference; kernels take as long as "
                      "without it"};
        doubt.detail = arena_printf(
            report->arena, err,
            "steps take %.0f %% longer in the trace, %s, than the median step of the log, %s",
            100 * (ratio - 1), time_text(trace_ns).text, time_text(log_ns).text);
        return doubt.detail && doubt_add_of_run(report, &doubt, err);
    }
    return true;
}
