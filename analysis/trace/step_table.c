// SPDX-License-Identifier: Apache-2.0
// The steps one by one, and distributions over the steady ones.
#include "analysis/trace/analyses.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

// The figure of a distribution: a sum of parts, or one of their numbers.
struct metric {
    const char *name;
    int64_t (*sum)(const struct parts *parts);
    size_t at; // offset within struct parts, if there is no sum
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
    {"unrecorded", NULL, BAR(BAR_UNRECORDED)},
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
    struct row row = {.desc = &table_steps};
    row_i64(&row, STEPS_STEP, step->number);
    row_text(&row, STEPS_NAME,
             facts->marked ? trace_text(facts->trace, step->name) : STR("whole window"));
    row_i64(&row, STEPS_BEGIN_NS, step->begin_ns - facts->begin_ns);
    row_bool(&row, STEPS_STEADY, step->steady);
    row_word(&row, STEPS_REASON, step->reason);
    parts_row(&row, STEPS_TIMES, &facts->step_parts[index]);
    return row_end(&row, report, err);
}

// Common to the distributions of all metrics.
struct samples {
    const struct facts *facts;
    struct interval interval; // of the median of that many steps
    int64_t *values;          // room for twice the steady steps
};

static bool add_metric(const struct samples *samples, const struct metric *metric,
                       struct report *report, struct err *err)
{
    const struct facts *facts = samples->facts;
    const struct interval *interval = &samples->interval;
    int64_t *values = samples->values;
    size_t count = 0;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (facts->steps[s].steady)
            values[count++] = value_of(metric, &facts->step_parts[s]);
    sort_i64(values, values + count, count);
    struct stats stats = stats_of(values, count);
    struct row row = {.desc = &table_step_stats};
    row_word(&row, STEP_STATS_METRIC, metric->name);
    row_i64(&row, STEP_STATS_COUNT, (int64_t)stats.count);
    row_i64(&row, STEP_STATS_MIN_NS, stats.min);
    row_f64(&row, STEP_STATS_MEAN_NS, stats.mean);
    row_i64(&row, STEP_STATS_MEDIAN_NS, stats.median);
    row_i64(&row, STEP_STATS_P95_NS, stats.p95);
    row_i64(&row, STEP_STATS_P99_NS, stats.p99);
    row_i64(&row, STEP_STATS_MAX_NS, stats.max);
    row_f64(&row, STEP_STATS_STDDEV_NS, stats.stddev);
    row_i64_if(&row, STEP_STATS_CI_LOW_NS, interval->known, values[interval->low]);
    row_i64_if(&row, STEP_STATS_CI_HIGH_NS, interval->known, values[interval->high]);
    row_word(&row, STEP_STATS_CI_NOTE, interval->note);
    return row_end(&row, report, err);
}

// The time of one idle cause: "idle_sync", ...
static bool add_idle(const struct samples *samples, enum idle_cause cause, struct report *report,
                     struct err *err)
{
    char name[32];
    snprintf(name, sizeof name, "idle_%s", idle_cause_word(cause));
    struct metric metric = {name, NULL,
                            offsetof(struct parts, idle_ns) + (size_t)cause * sizeof(int64_t)};
    return add_metric(samples, &metric, report, err);
}

static bool add_metrics(const struct samples *samples, struct report *report, struct err *err)
{
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++)
        if (!add_metric(samples, &metrics[m], report, err))
            return false;
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++)
        if (samples->facts->steady.idle_ns[c] &&
            !add_idle(samples, (enum idle_cause)c, report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (!add_step(facts, s, report, err))
            return false;
    if (facts->steady_count == 0)
        return true;
    size_t size = 2 * (size_t)facts->steady_count * sizeof(int64_t);
    struct samples samples = {.facts = facts,
                              .interval = stats_interval(facts->steady_count),
                              .values = budget_alloc(facts->budget, size, err)};
    bool ok = samples.values && add_metrics(&samples, report, err);
    budget_free(facts->budget, samples.values, size);
    return ok;
}

const struct analysis step_table_analysis = {"steps", run};
