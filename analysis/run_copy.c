// SPDX-License-Identifier: Apache-2.0
// The run's tables that list what each rank, or the headline rank, has.
#include "analysis/run.h"
#include "analysis/tables.h"

// All rows of one rank's table behind the number of the rank.
static bool copy_rows(const struct run *run, size_t rank, const char *name,
                      const struct table_desc *desc, struct err *err)
{
    const struct table *table = run_table(run, rank, name);
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct row row = {0};
        row_i64(&row, run->ranks[rank].rank);
        run_append(&row, table, i, 0);
        if (!row_end(&row, desc, run->report, err))
            return false;
    }
    return true;
}

static bool copy_all(const struct run *run, const char *name, const struct table_desc *desc,
                     struct err *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (!copy_rows(run, i, name, desc, err))
            return false;
    return true;
}

// Index of the first row of a breakdown with that scope, or its row count.
static size_t find_scope(const struct table *breakdown, struct str scope)
{
    size_t i = 0;
    while (i < breakdown->row_count && !str_equal(table_cell(breakdown, i, "scope")->s, scope))
        i++;
    return i;
}

static bool add_breakdown(const struct run *run, size_t rank, size_t index, const char *scope,
                          struct err *err)
{
    const struct table *table = run_table(run, rank, "breakdown");
    struct row row = {0};
    row_word(&row, scope);
    row_i64(&row, run->ranks[rank].rank);
    run_append(&row, table, index, 1);
    return row_end(&row, &table_run_breakdown, run->report, err);
}

static bool add_steady(const struct run *run, size_t rank, const char *scope, struct err *err)
{
    const struct table *table = run_table(run, rank, "breakdown");
    size_t index = table ? find_scope(table, STR("steady")) : 0;
    return !table || index == table->row_count || add_breakdown(run, rank, index, scope, err);
}

static bool add_breakdowns(const struct run *run, struct err *err)
{
    if (!add_steady(run, run->headline, "run_median", err) ||
        !add_steady(run, run->slowest, "run_slowest", err))
        return false;
    for (size_t rank = 0; rank < run->count; rank++) {
        const struct table *table = run_table(run, rank, "breakdown");
        for (size_t i = 0; table && i < table->row_count; i++) {
            struct str scope = table_cell(table, i, "scope")->s;
            const char *as = str_equal(scope, STR("trace"))    ? "rank"
                             : str_equal(scope, STR("device")) ? "device"
                                                               : NULL;
            if (as && !add_breakdown(run, rank, i, as, err))
                return false;
        }
    }
    return true;
}

static struct cell step_p95(const struct run *run, size_t rank)
{
    const struct table *stats = run_table(run, rank, "step_stats");
    return stats ? *table_cell(stats, 0, "p95_ns") : cell_null();
}

// Parts of the mean steady step, all 0 without steps.
static struct parts mean_parts(const struct run *run, size_t rank)
{
    const struct table *breakdown = run_table(run, rank, "breakdown");
    int64_t steps = run_summary_i64(run, rank, "steady_steps", 0);
    struct parts parts = {0};
    if (!breakdown || steps == 0)
        return parts;
    size_t index = find_scope(breakdown, STR("steady"));
    if (index < breakdown->row_count)
        parts = parts_read(breakdown, index);
    return parts_per_step(&parts, steps);
}

static bool add_rank(const struct run *run, size_t rank, struct err *err)
{
    static const char *const columns[] = {"gpu",        "device_events", "linked_device_events",
                                          "step_count", "steady_steps",  "step_median_ns"};
    const struct table *summary = run_table(run, rank, "summary");
    if (!summary)
        return true;
    struct parts parts = mean_parts(run, rank);
    struct row row = {0};
    row_i64(&row, run->ranks[rank].rank);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        row_cell(&row, *table_cell(summary, 0, columns[c]));
    row_cell(&row, step_p95(run, rank));
    parts_row(&row, &parts);
    row_cell(&row, *table_cell(summary, 0, "worst_quality"));
    row_bool(&row, rank == run->headline);
    while (row.count < table_run_ranks.column_count)
        row_null(&row);
    return row_end(&row, &table_run_ranks, run->report, err);
}

static bool add_parts(const struct run *run, struct err *err)
{
    const struct table *table = run_table(run, run->headline, "parts");
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct row row = {0};
        row_i64(&row, run->ranks[run->headline].rank);
        row_i64(&row, run_summary_i64(run, run->headline, "steady_steps", 0));
        run_append(&row, table, i, 0);
        if (!row_end(&row, &table_run_parts, run->report, err))
            return false;
    }
    return true;
}

bool run_copy(const struct run *run, struct err *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (!add_rank(run, i, err))
            return false;
    return add_breakdowns(run, err) && copy_all(run, "steps", &table_run_steps, err) &&
           copy_rows(run, run->headline, "step_stats", &table_run_step_stats, err) &&
           copy_rows(run, run->headline, "findings", &table_run_findings, err) &&
           copy_all(run, "quality", &table_run_quality, err) &&
           copy_all(run, "launches", &table_run_launches, err) && add_parts(run, err);
}
