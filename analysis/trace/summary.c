// SPDX-License-Identifier: Apache-2.0
// The trace in one row, from the tables of the other analyses.
#include "analysis/trace/analyses.h"
#include "analysis/report/trust.h"
#include "analysis/report/tables.h"

static void add_step(struct row *row, const struct report *report)
{
    const struct table *stats = report_find(report, "step_stats");
    if (!stats)
        return;
    row_cell(row, SUMMARY_STEP_MEDIAN_NS, *table_cell(stats, 0, STEP_STATS_MEDIAN_NS));
    row_cell(row, SUMMARY_STEP_CI_LOW_NS, *table_cell(stats, 0, STEP_STATS_CI_LOW_NS));
    row_cell(row, SUMMARY_STEP_CI_HIGH_NS, *table_cell(stats, 0, STEP_STATS_CI_HIGH_NS));
}

static size_t count_rows(const struct report *report, const char *name)
{
    const struct table *table = report_find(report, name);
    return table ? table->row_count : 0;
}

// Without a base time the file's times are since 1970, unless that is impossible.
static bool window_begin(const struct facts *facts, int64_t *begin_ns)
{
    int64_t base_ns = facts->trace->job.base_ns;
    bool dated = facts->begin_ns < TRACE_FAR_NS - TRACE_FAR_REACH_NS - 1000 ||
                 facts->begin_ns > TRACE_FAR_NS + TRACE_FAR_REACH_NS + 1000;
    return base_ns != VALUE_ABSENT && dated && facts->device_count &&
           !__builtin_add_overflow(base_ns, facts->begin_ns, begin_ns);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    const struct identity *who = &facts->identity;
    int64_t steady_ns = parts_recorded_ns(&facts->steady);
    struct row row = {.desc = &table_summary};
    row_i64(&row, SUMMARY_DEVICE_EVENTS, facts->device_count);
    row_i64(&row, SUMMARY_LINKED_DEVICE_EVENTS, facts->linked);
    row_i64(&row, SUMMARY_STEP_COUNT, facts->step_count);
    row_i64(&row, SUMMARY_STEADY_STEPS, facts->steady_count);
    add_step(&row, report);
    row_share(&row, SUMMARY_BUSY_SHARE, parts_busy_ns(&facts->steady), steady_ns);
    row_share(&row, SUMMARY_EXPOSED_COMM_SHARE, facts->steady.bar_ns[BAR_EXPOSED_COMM], steady_ns);
    row_share(&row, SUMMARY_IDLE_SHARE, steady_ns - parts_busy_ns(&facts->steady), steady_ns);
    row_text_if(&row, SUMMARY_GPU, who->gpu.len != 0, who->gpu);
    row_i64(&row, SUMMARY_DEVICES, facts->gpu_count);
    row_i64_if(&row, SUMMARY_WORLD_SIZE, who->world_size >= 0, who->world_size);
    row_i64(&row, SUMMARY_INPUT_EVENTS, (int64_t)facts->trace->input_events);
    row_i64(&row, SUMMARY_TEXT_BYTES, (int64_t)facts->trace->text_bytes);
    row_i64(&row, SUMMARY_FINDINGS, (int64_t)count_rows(report, "findings"));
    row_word(&row, SUMMARY_TRUST_SEVERITY, trust_worst(report));
    row_i64(&row, SUMMARY_STREAMS, facts->stream_count);
    row_i64_if(&row, SUMMARY_RANK, who->rank >= 0, who->rank);
    row_i64(&row, SUMMARY_INCOMPLETE, (int64_t)facts->trace->repairs[REPAIR_INCOMPLETE].count);
    row_i64(&row, SUMMARY_IMPLAUSIBLE, (int64_t)facts->quarantine.implausible);
    row_i64(&row, SUMMARY_CLIPPED, (int64_t)facts->quarantine.clipped);
    int64_t begin_ns = 0;
    bool placed = window_begin(facts, &begin_ns);
    row_i64_if(&row, SUMMARY_WINDOW_BEGIN_NS, placed, begin_ns);
    return row_end(&row, report, err);
}

const struct analysis summary_analysis = {"summary", run};
