// SPDX-License-Identifier: Apache-2.0
// The rows of work behind device events, for rules about how well they are done.
#include "analysis/findings/findings_work.h"

#include "analysis/report/tables.h"
#include <stdio.h>

// The row for a device event, FACTS_NONE without one.
static uint32_t row_of(const struct facts *facts, const struct finding_work *work, uint32_t device)
{
    uint32_t launch = facts->devices[device].launch;
    return launch == FACTS_NONE ? FACTS_NONE : work->row_of_launch[launch];
}

static void join_launches(const struct facts *facts, struct finding_work *work)
{
    const struct op_calls *calls = work->rows.calls;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        work->row_of_launch[l] = FACTS_NONE;
    for (uint32_t c = 0; c < calls->count; c++)
        for (uint32_t i = calls->calls[c].from; i < calls->calls[c].to; i++)
            work->row_of_launch[calls->order[i]] = work->rows.row_of_call[c];
    for (uint32_t d = 0; d < facts->device_count; d++) {
        uint32_t row = row_of(facts, work, d);
        if (row != FACTS_NONE)
            work->steady_ns[row] += facts->steady_owned_ns[d];
    }
}

bool finding_work_share(struct finding_case *the_case, struct err *err)
{
    const struct facts *facts = the_case->facts;
    struct arena *arena = the_case->arena;
    struct finding_work *work = arena_array(arena, 1, sizeof *work, err);
    if (!work || !work_rows_make(facts, arena, &work->rows, err))
        return false;
    work->row_of_launch =
        arena_room(arena, (size_t)facts->launch_count + 1, sizeof *work->row_of_launch, err);
    work->steady_ns =
        arena_array(arena, (size_t)work->rows.count + 1, sizeof *work->steady_ns, err);
    if (!work->row_of_launch || !work->steady_ns)
        return false;
    join_launches(facts, work);
    the_case->work = work;
    return true;
}

bool finding_work_make(const struct finding_case *the_case, struct finding_work **made,
                       struct err *err)
{
    struct finding_work *work = *made = arena_array(the_case->arena, 1, sizeof *work, err);
    if (!work)
        return false;
    *work = *the_case->work;
    work->saved =
        arena_array(the_case->arena, (size_t)work->rows.count + 1, sizeof *work->saved, err);
    return work->saved;
}

int64_t finding_work_claim(const struct finding_case *the_case, const void *context,
                           const struct atom *atom)
{
    const struct finding_work *work = context;
    uint32_t row = atom->gap ? FACTS_NONE : row_of(the_case->facts, work, atom->device);
    if (row == FACTS_NONE)
        return 0;
    return (int64_t)((double)atom->ns * work->saved[row]);
}

double finding_gemm_share(const struct finding_case *the_case, enum precision precision)
{
    const struct table *metrics = report_find(the_case->report, "utilization");
    char name[40];
    snprintf(name, sizeof name, "gemm_%s_share", precision_word(precision));
    for (size_t i = 0; metrics && i < metrics->row_count; i++) {
        const struct cell *value = table_cell(metrics, i, UTILIZATION_VALUE);
        if (table_is(metrics, i, UTILIZATION_METRIC, str_of(name)))
            return value->null ? 0 : value->f;
    }
    return 0;
}
