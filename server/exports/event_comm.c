// SPDX-License-Identifier: Apache-2.0
#include "server/exports/event_comm.h"

#include "analysis/report/tables.h"

static const struct table_desc *const needed[] = {
    &table_summary,    &table_steps, &table_step_rates, &table_process_groups, &table_comm_ops,
    &table_comm_calls, NULL};

struct taking {
    struct event_comm *comm;
    const struct rank_source *ranks;
};

static bool take(void *context, size_t index, const struct report *report, struct err *err)
{
    const struct taking *taking = context;
    return run_comm_add(&taking->comm->comm, taking->ranks->ranks[index], report, err);
}

bool event_comm_load(struct event_comm *comm, const struct rank_source *ranks, struct err *err)
{
    struct taking taking = {comm, ranks};
    *comm = (struct event_comm){.budget = {.limit = EVENT_COMM_MOST_BYTES}};
    comm->known = run_comm_open(&comm->comm, ranks->count, &comm->budget, err) &&
                  rank_source_each(ranks, needed, &comm->budget, take, &taking, err) &&
                  run_comm_solve(&comm->comm, err);
    if (comm->known)
        return true;
    event_comm_free(comm);
    return err->code == ERR_LIMIT;
}

void event_comm_free(struct event_comm *comm)
{
    if (comm->comm.budget) // it was opened
        run_comm_close(&comm->comm);
    *comm = (struct event_comm){0};
}
