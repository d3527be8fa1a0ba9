// SPDX-License-Identifier: Apache-2.0
// The run's tables that list what each rank, or the headline rank, has.
#include "analysis/run/run_evidence.h"
#include "analysis/run/findings_run.h"
#include "analysis/run/run.h"
#include "analysis/report/tables.h"

// A table of the run with all rows of a rank's table, preceded by the number of the rank.
struct listed {
    const struct table_desc *from, *to;
    unsigned rank, first, copy; // the rank in `to`, the first column in `from`, where it goes
};

static const struct listed steps = {&table_steps, &table_run_steps, RUN_STEPS_RANK, STEPS_STEP,
                                    RUN_STEPS_STEP};
static const struct listed doubt = {&table_trust, &table_run_trust, RUN_TRUST_RANK, TRUST_DOUBT,
                                    RUN_TRUST_DOUBT};
static const struct listed launches = {&table_launches, &table_run_launches, RUN_LAUNCHES_RANK,
                                       LAUNCHES_LAUNCH, RUN_LAUNCHES_LAUNCH};
static const struct listed step_stats = {&table_step_stats, &table_run_step_stats,
                                         RUN_STEP_STATS_RANK, STEP_STATS_METRIC,
                                         RUN_STEP_STATS_METRIC};

static bool copy_rows(const struct run *run, size_t rank, const struct report *report,
                      const struct listed *listed, struct err *err)
{
    const struct table *table = report_find(report, listed->from->name);
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct row row = {.desc = listed->to};
        row_i64(&row, listed->rank, run->ranks[rank]);
        row_copy(&row, listed->copy, table, i, listed->first);
        if (!row_end(&row, run->report, err))
            return false;
    }
    return true;
}

bool run_copy_rank(const struct run *run, size_t rank, const struct report *report, struct err *err)
{
    return copy_rows(run, rank, report, &steps, err) && copy_rows(run, rank, report, &doubt, err) &&
           copy_rows(run, rank, report, &launches, err);
}

// Index of the row of a breakdown over the steady steps, or its row count.
static size_t find_steady(const struct table *breakdown)
{
    size_t i = 0;
    while (i < breakdown->row_count && !table_is(breakdown, i, BREAKDOWN_SCOPE, STR("steady")))
        i++;
    return i;
}

struct parts run_steady_parts(const struct run *run, size_t rank)
{
    const struct table *breakdown = run_head(run, rank, "breakdown");
    size_t index = breakdown ? find_steady(breakdown) : 0;
    bool known = breakdown && index < breakdown->row_count;
    return known ? parts_read(breakdown, index, BREAKDOWN_TIMES) : (struct parts){0};
}

static bool add_breakdown(const struct run *run, size_t rank, size_t index, const char *scope,
                          struct err *err)
{
    const struct table *table = run_head(run, rank, "breakdown");
    struct row row = {.desc = &table_run_breakdown};
    row_word(&row, RUN_BREAKDOWN_SCOPE, scope);
    row_i64(&row, RUN_BREAKDOWN_RANK, run->ranks[rank]);
    row_copy(&row, RUN_BREAKDOWN_DEVICE, table, index, BREAKDOWN_DEVICE);
    return row_end(&row, run->report, err);
}

static bool add_steady(const struct run *run, size_t rank, const char *scope, struct err *err)
{
    const struct table *table = run_head(run, rank, "breakdown");
    size_t index = table ? find_steady(table) : 0;
    return !table || index == table->row_count || add_breakdown(run, rank, index, scope, err);
}

static bool add_breakdowns(const struct run *run, struct err *err)
{
    if (!add_steady(run, run->headline, "run_median", err) ||
        !add_steady(run, run->slowest, "run_slowest", err))
        return false;
    for (size_t rank = 0; rank < run->count; rank++) {
        const struct table *table = run_head(run, rank, "breakdown");
        for (size_t i = 0; table && i < table->row_count; i++) {
            struct str scope = table_cell(table, i, BREAKDOWN_SCOPE)->s;
            const char *as = str_equal(scope, STR("trace"))    ? "rank"
                             : str_equal(scope, STR("device")) ? "device"
                                                               : NULL;
            if (as && !add_breakdown(run, rank, i, as, err))
                return false;
        }
    }
    return true;
}

static bool add_findings(const struct run *run, const struct table *own, struct err *err)
{
    struct parts steady = run_steady_parts(run, run->headline);
    const struct table *monitors;
    if (!run_load_monitors(run->source, run->scratch, &monitors, err))
        return false;
    struct run_findings of = {
        .own = own,
        .headline = run->ranks[run->headline],
        .steps = run_summary_i64(run, run->headline, SUMMARY_STEADY_STEPS, 0),
        .all_steps = run_summary_i64(run, run->headline, SUMMARY_STEP_COUNT, 0),
        .steady = &steady,
        .ranks = run->count,
        .rates = run->rates,
        .links = run->links,
        .source = run->source,
        .monitors = monitors,
    };
    return findings_of_run(&of, run->report, err);
}

bool run_copy_headline(const struct run *run, struct err *err)
{
    static const struct table_desc *const known[] = {&table_step_stats, &table_findings, NULL};
    struct report own = {.arena = run->scratch};
    size_t headline = run->headline;
    return run->source->load(run->source->context, headline, known, &own, err) &&
           add_breakdowns(run, err) && copy_rows(run, headline, &own, &step_stats, err) &&
           add_findings(run, report_find(&own, "findings"), err);
}
