// SPDX-License-Identifier: Apache-2.0
// Each step of each rank, with the waits of its collectives.
#include "analysis/run/run.h"
#include "analysis/ranks/run_comm.h"
#include "analysis/report/tables.h"

// One row of the run's table steps, for a rank whose collectives are known or not.
static bool add_step(const struct run *run, const struct table *steps, size_t index,
                     const struct comm_sums *sums, struct err *err)
{
    struct comm_sums none = {0};
    struct row row = {.desc = &table_run_rank_steps};
    row_cell(&row, RUN_RANK_STEPS_RANK, *table_cell(steps, index, RUN_STEPS_RANK));
    row_cell(&row, RUN_RANK_STEPS_STEP, *table_cell(steps, index, RUN_STEPS_STEP));
    row_cell(&row, RUN_RANK_STEPS_STEADY, *table_cell(steps, index, RUN_STEPS_STEADY));
    row_cell(&row, RUN_RANK_STEPS_STEP_NS, *table_cell(steps, index, RUN_STEPS_WINDOW_NS));
    row_cell(&row, RUN_RANK_STEPS_COMPUTE_NS, *table_cell(steps, index, RUN_STEPS_COMPUTE_NS));
    row_cell(&row, RUN_RANK_STEPS_EXPOSED_COMM_NS,
             *table_cell(steps, index, RUN_STEPS_EXPOSED_COMM_NS));
    bool known = sums != NULL;
    sums = known ? sums : &none;
    row_i64_if(&row, RUN_RANK_STEPS_EXPOSED_WAIT_NS, known, sums->exposed_wait_ns);
    row_i64_if(&row, RUN_RANK_STEPS_EXPOSED_TRANSFER_NS, known, sums->exposed_transfer_ns);
    row_i64_if(&row, RUN_RANK_STEPS_WAIT_NS, known, sums->wait_ns);
    row_cell(&row, RUN_RANK_STEPS_IDLE_NS, *table_cell(steps, index, RUN_STEPS_IDLE_NS));
    row_i64_if(&row, RUN_RANK_STEPS_LATENESS_NS, known, sums->lateness_ns);
    return row_end(&row, run->report, err);
}

// The rows of a rank's steps are consecutive in the run's table.
bool run_list_steps(const struct run *run, struct err *err)
{
    const struct table *steps = report_find(run->report, "steps");
    size_t rank = 0, first = 0;
    for (size_t i = 0; steps && i < steps->row_count; i++) {
        int64_t number = table_cell(steps, i, RUN_STEPS_RANK)->i;
        for (; run->ranks[rank] != number; rank++)
            first = i;
        const struct comm_rank *comm = run_knows_waits(run, rank) ? &run->comm->ranks[rank] : NULL;
        bool known = comm && i - first < comm->step_count;
        if (!add_step(run, steps, i, known ? &comm->steps[i - first].sums : NULL, err))
            return false;
    }
    return true;
}
