// SPDX-License-Identifier: Apache-2.0
// The ranks of a run, one row each.
#include "analysis/run/run.h"
#include "analysis/ranks/run_comm.h"
#include "analysis/report/tables.h"

static struct cell step_p95(const struct run *run, size_t rank)
{
    const struct table *stats = run_head(run, rank, "step_stats");
    return stats ? *table_cell(stats, 0, STEP_STATS_P95_NS) : cell_null();
}

// Parts of the mean steady step, all 0 without steps.
static struct parts mean_parts(const struct run *run, size_t rank)
{
    struct parts parts = run_steady_parts(run, rank);
    int64_t steps = run_summary_i64(run, rank, SUMMARY_STEADY_STEPS, 0);
    return steps ? parts_per_step(&parts, steps) : (struct parts){0};
}

static void add_place(struct row *row, const struct run_place *place)
{
    row_text_if(row, RUN_RANKS_NODE, place->node.len != 0, place->node);
    row_i64_if(row, RUN_RANKS_LOCAL_RANK, place->local_rank >= 0, place->local_rank);
}

// If more than a twentieth of the exposed communication is in calls whose clocks cannot be
// compared, it is unknown how much of it was waiting.
bool run_knows_waits(const struct run *run, size_t rank)
{
    const struct comm_sums *steady = &run->comm->ranks[rank].steady;
    struct parts parts = run_steady_parts(run, rank);
    bool apart = steady->apart_ns > (steady->exposed_wait_ns + steady->exposed_transfer_ns) / 20;
    return (steady->calls && !apart) || (!steady->calls && !steady->apart_calls &&
                                         !steady->unmatched_calls && parts.total_comm_ns == 0);
}

// Means of the steady steps.
static void add_waits(struct row *row, const struct run *run, size_t rank)
{
    const struct comm_rank *comm = &run->comm->ranks[rank];
    int64_t steps = run_summary_i64(run, rank, SUMMARY_STEADY_STEPS, 0);
    bool known = run_knows_waits(run, rank) && steps > 0;
    int64_t by = known ? steps : 1;
    row_i64_if(row, RUN_RANKS_EXPOSED_WAIT_NS, known, comm->steady.exposed_wait_ns / by);
    row_i64_if(row, RUN_RANKS_EXPOSED_TRANSFER_NS, known, comm->steady.exposed_transfer_ns / by);
    row_i64_if(row, RUN_RANKS_WAIT_NS, known, comm->steady.wait_ns / by);
    row_i64_if(row, RUN_RANKS_LATENESS_NS, known, comm->steady.lateness_ns / by);
    row_i64_if(row, RUN_RANKS_CLOCK_OFFSET_NS, comm->clock_calls > 0, comm->offset_ns);
}

static bool add_rank(const struct run *run, size_t rank, struct err *err)
{
    static const unsigned columns[][2] = {
        {RUN_RANKS_GPU, SUMMARY_GPU},
        {RUN_RANKS_DEVICE_EVENTS, SUMMARY_DEVICE_EVENTS},
        {RUN_RANKS_LINKED_DEVICE_EVENTS, SUMMARY_LINKED_DEVICE_EVENTS},
        {RUN_RANKS_STEP_COUNT, SUMMARY_STEP_COUNT},
        {RUN_RANKS_STEADY_STEPS, SUMMARY_STEADY_STEPS},
        {RUN_RANKS_STEP_MEDIAN_NS, SUMMARY_STEP_MEDIAN_NS},
        {RUN_RANKS_TRUST_SEVERITY, SUMMARY_TRUST_SEVERITY},
    };
    const struct table *summary = run_head(run, rank, "summary");
    if (!summary)
        return true;
    struct parts parts = mean_parts(run, rank);
    struct row row = {.desc = &table_run_ranks};
    row_i64(&row, RUN_RANKS_RANK, run->ranks[rank]);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        row_cell(&row, columns[c][0], *table_cell(summary, 0, columns[c][1]));
    row_cell(&row, RUN_RANKS_STEP_P95_NS, step_p95(run, rank));
    parts_row(&row, RUN_RANKS_TIMES, &parts);
    row_bool(&row, RUN_RANKS_HEADLINE, rank == run->headline);
    add_place(&row, &run->places[rank]);
    add_waits(&row, run, rank);
    return row_end(&row, run->report, err);
}

bool run_list_ranks(const struct run *run, struct err *err)
{
    for (size_t i = 0; i < run->count; i++)
        if (!add_rank(run, i, err))
            return false;
    return true;
}
