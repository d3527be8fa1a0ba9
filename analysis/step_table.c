// SPDX-License-Identifier: Apache-2.0
// The steps one by one, and distributions over the steady ones.
#include "analysis/analyses.h"
#include "analysis/sort.h"
#include "analysis/stats.h"
#include "analysis/tables.h"

struct metric {
    const char *name;
    int64_t (*value)(const struct parts *parts);
};

static int64_t exposed_comm_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_EXPOSED_COMM];
}

static int64_t exposed_memory_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_EXPOSED_MEMORY];
}

static int64_t gemm_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_GEMM];
}

static int64_t attention_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_ATTENTION];
}

static int64_t other_compute_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_OTHER_COMPUTE];
}

static int64_t idle_host_wait_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_IDLE_HOST_WAIT];
}

static int64_t idle_other_ns(const struct parts *parts)
{
    return parts->bar_ns[BAR_IDLE_OTHER];
}

static const struct metric metrics[] = {
    {"step", parts_window_ns},
    {"compute", parts_compute_ns},
    {"exposed_comm", exposed_comm_ns},
    {"exposed_memory", exposed_memory_ns},
    {"idle", parts_idle_ns},
    {"busy", parts_busy_ns},
    {"gemm", gemm_ns},
    {"attention", attention_ns},
    {"other_compute", other_compute_ns},
    {"idle_host_wait", idle_host_wait_ns},
    {"idle_other", idle_other_ns},
};

static bool add_step(const struct facts *facts, uint32_t index, struct report *report,
                     struct err *err)
{
    const struct step *step = &facts->steps[index];
    struct row row = {0};
    row_i64(&row, step->number);
    row_text(&row, facts->marked ? trace_text(facts->trace, step->name) : STR("whole window"));
    row_i64(&row, step->begin_ns - facts->begin_ns);
    row_bool(&row, step->steady);
    row_word(&row, step->reason);
    parts_row(&row, &facts->step_parts[index]);
    return row_end(&row, &table_steps, report, err);
}

// Distribution of one metric; values has room for twice the steady steps.
static bool add_metric(const struct facts *facts, const struct metric *metric, int64_t *values,
                       struct report *report, struct err *err)
{
    size_t count = 0;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (facts->steps[s].steady)
            values[count++] = metric->value(&facts->step_parts[s]);
    sort_i64(values, values + count, count);
    struct interval interval;
    if (!stats_interval(values, count, facts->budget, &interval, err))
        return false;
    struct stats stats = stats_of(values, count);
    struct row row = {0};
    row_word(&row, metric->name);
    row_i64(&row, (int64_t)stats.count);
    row_i64(&row, stats.min);
    row_f64(&row, stats.mean);
    row_i64(&row, stats.median);
    row_i64(&row, stats.p95);
    row_i64(&row, stats.p99);
    row_i64(&row, stats.max);
    row_f64(&row, stats.stddev);
    row_i64_if(&row, interval.known, interval.low);
    row_i64_if(&row, interval.known, interval.high);
    row_word(&row, interval.note);
    return row_end(&row, &table_step_stats, report, err);
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (!add_step(facts, s, report, err))
            return false;
    if (facts->steady_count == 0)
        return true;
    size_t size = 2 * (size_t)facts->steady_count * sizeof(int64_t);
    int64_t *values = budget_alloc(facts->budget, size, err);
    bool ok = values != NULL;
    for (size_t m = 0; ok && m < sizeof metrics / sizeof *metrics; m++)
        ok = add_metric(facts, &metrics[m], values, report, err);
    budget_free(facts->budget, values, size);
    return ok;
}

const struct analysis step_table_analysis = {"steps", run};
