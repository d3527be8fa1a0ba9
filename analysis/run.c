// SPDX-License-Identifier: Apache-2.0
// From the reports of the ranks to the report of the run.
#include "analysis/run.h"

#include "analysis/quality.h"
#include "analysis/ranked.h"
#include "analysis/tables.h"

int64_t run_summary_i64(const struct run *run, size_t rank, const char *column, int64_t fallback)
{
    const struct table *summary = run_table(run, rank, "summary");
    const struct cell *cell = summary ? table_cell(summary, 0, column) : NULL;
    return cell && !cell->null ? cell->i : fallback;
}

const struct table *run_table(const struct run *run, size_t rank, const char *name)
{
    return report_find(run->ranks[rank].report, name);
}

void run_append(struct row *row, const struct table *table, size_t index, unsigned first)
{
    const struct cell *cells = table->cells + index * table->desc->column_count;
    for (unsigned c = first; c < table->desc->column_count; c++)
        row_cell(row, cells[c]);
}

// The lower median of the ranks by median steady step represents the run. Ranks without steps come
// last, so that they represent it only when all are.
static bool choose_ranks(struct run *run, struct err *err)
{
    struct ranked *ranked = arena_array(run->scratch, run->count, sizeof *ranked, err);
    if (!ranked)
        return false;
    size_t known = 0;
    for (size_t i = 0; i < run->count; i++) {
        int64_t step_ns = run_summary_i64(run, i, "step_median_ns", -1);
        ranked[i] = (struct ranked){step_ns, {NULL, 0}, (uint32_t)i};
        known += step_ns >= 0;
    }
    ranked_sort(ranked, run->count); // the slowest first
    run->slowest = ranked[0].index;
    run->headline = known ? ranked[known / 2].index : 0;
    return true;
}

static void sum_windows(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct table *breakdown = run_table(run, i, "breakdown");
        run->window_ns += breakdown ? table_cell(breakdown, 0, "window_ns")->i : 0;
        run->busy_ns += breakdown ? table_cell(breakdown, 0, "busy_ns")->i : 0;
    }
}

static int64_t largest_world(const struct run *run)
{
    int64_t world = -1;
    for (size_t i = 0; i < run->count; i++) {
        int64_t size = run_summary_i64(run, i, "world_size", -1);
        world = size > world ? size : world;
    }
    return world;
}

static bool add_run_quality(const struct run *run, const struct quality *quality, struct err *err)
{
    struct row row = {0};
    row_null(&row);
    row_word(&row, quality->item);
    row_word(&row, quality->severity);
    row_i64(&row, quality->count);
    row_null(&row);
    row_null(&row);
    row_word(&row, quality->detail);
    row_word(&row, quality->effect);
    return row_end(&row, &table_run_quality, run->report, err);
}

static bool judge_ranks(const struct run *run, struct err *err)
{
    int64_t missing = largest_world(run) - (int64_t)run->count, uneven = 0;
    int64_t steps = run_summary_i64(run, run->headline, "steady_steps", 0);
    for (size_t i = 0; i < run->count; i++)
        uneven += run_summary_i64(run, i, "steady_steps", 0) != steps;
    struct quality ranks = {
        .item = "missing_ranks",
        .severity = "warning",
        .count = missing,
        .detail = "ranks of the job whose trace is not there",
        .effect = "the headline and the slowest rank are those of the ranks that are there",
    };
    struct quality differs = {
        .item = "steps_differ",
        .severity = "info",
        .count = uneven,
        .detail = "ranks with another number of steady steps than the headline rank",
        .effect = "sums over ranks cover unequal times; figures per step do not",
    };
    return (missing <= 0 || add_run_quality(run, &ranks, err)) &&
           (!uneven || add_run_quality(run, &differs, err));
}

static double spread_of(const struct run *run)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < run->count; i++) {
        int64_t step_ns = run_summary_i64(run, i, "step_median_ns", -1);
        if (step_ns < 0)
            continue;
        least = step_ns < least ? step_ns : least;
        most = step_ns > most ? step_ns : most;
    }
    int64_t headline_ns = run_summary_i64(run, run->headline, "step_median_ns", 0);
    return headline_ns > 0 ? (double)(most - least) / (double)headline_ns : 0;
}

// The headline rank's summary, with what concerns the whole run put in its place.
static bool add_summary(const struct run *run, struct err *err)
{
    const struct table *summary = run_table(run, run->headline, "summary");
    if (!summary)
        return true;
    const struct table *findings = report_find(run->report, "findings");
    const char *worst = quality_worst(run->report);
    int64_t world = largest_world(run);
    struct row row = {0};
    run_append(&row, summary, 0, 0);
    row.count = (unsigned)table_column(summary->desc, "window_begin_ns"); // of one clock only
    row.cells[table_column(summary->desc, "findings")] =
        cell_i64(findings ? (int64_t)findings->row_count : 0);
    row.cells[table_column(summary->desc, "worst_quality")] =
        worst ? cell_text(str_of(worst)) : cell_null();
    row.cells[table_column(summary->desc, "world_size")] =
        world >= 0 ? cell_i64(world) : cell_null();
    row_i64(&row, (int64_t)run->count);
    row_i64(&row, run->ranks[run->headline].rank);
    row_i64(&row, run->ranks[run->slowest].rank);
    row_f64(&row, spread_of(run));
    return row_end(&row, &table_run_summary, run->report, err);
}

bool analyse_run(const struct rank_report *ranks, size_t count, struct report *report,
                 struct err *err)
{
    if (count == 0)
        return err_set(err, ERR_USAGE, "a run without ranks cannot be analysed");
    struct budget uncounted = {0};
    struct budget *budget = report->arena->budget ? report->arena->budget : &uncounted;
    struct arena scratch;
    arena_init(&scratch, budget);
    struct run run = {
        .ranks = ranks, .count = count, .report = report, .scratch = &scratch, .budget = budget};
    sum_windows(&run);
    bool ok = choose_ranks(&run, err) && judge_ranks(&run, err) && run_copy(&run, err) &&
              run_merge(&run, err) && add_summary(&run, err);
    arena_free(&scratch);
    return ok;
}
