// SPDX-License-Identifier: Apache-2.0
// The steps one by one, and distributions over the steady ones.
#include "analysis/analyses.h"
#include "analysis/sort.h"
#include "analysis/stats.h"
#include "analysis/tables.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// What a distribution is taken of: a sum of parts, or one of their numbers.
struct metric {
    const char *name;
    int64_t (*sum)(const struct parts *parts);
    size_t at; // offset within struct parts, when there is no sum
};

#define BAR(bar) offsetof(struct parts, bar_ns) + (bar) * sizeof(int64_t)

static const struct metric metrics[] = {
    {"step", parts_window_ns, 0},
    {"compute", parts_compute_ns, 0},
    {"exposed_comm", NULL, BAR(BAR_EXPOSED_COMM)},
    {"exposed_memory", NULL, BAR(BAR_EXPOSED_MEMORY)},
    {"idle", parts_idle_ns, 0},
    {"busy", parts_busy_ns, 0},
    {"gemm", NULL, BAR(BAR_GEMM)},
    {"attention", NULL, BAR(BAR_ATTENTION)},
    {"other_compute", NULL, BAR(BAR_OTHER_COMPUTE)},
    {"idle_host_wait", NULL, BAR(BAR_IDLE_HOST_WAIT)},
    {"idle_other", NULL, BAR(BAR_IDLE_OTHER)},
    {"total_comm", NULL, offsetof(struct parts, total_comm_ns)},
    {"total_memory", NULL, offsetof(struct parts, total_memory_ns)},
};

static int64_t value_of(const struct metric *metric, const struct parts *parts)
{
    int64_t value;
    if (metric->sum)
        return metric->sum(parts);
    memcpy(&value, (const char *)parts + metric->at, sizeof value);
    return value;
}

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
            values[count++] = value_of(metric, &facts->step_parts[s]);
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

// The time of one idle cause: "idle_sync", ...
static bool add_idle(const struct facts *facts, enum idle_cause cause, int64_t *values,
                     struct report *report, struct err *err)
{
    char name[32];
    snprintf(name, sizeof name, "idle_%s", idle_cause_word(cause));
    struct metric metric = {name, NULL,
                            offsetof(struct parts, idle_ns) + (size_t)cause * sizeof(int64_t)};
    return add_metric(facts, &metric, values, report, err);
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
    for (int c = 0; ok && c < IDLE_CAUSE_COUNT; c++)
        ok = facts->steady.idle_ns[c] == 0 ||
             add_idle(facts, (enum idle_cause)c, values, report, err);
    budget_free(facts->budget, values, size);
    return ok;
}

const struct analysis step_table_analysis = {"steps", run};
