// SPDX-License-Identifier: Apache-2.0
// The table clocks, and what the trust report says of clocks and matches.
#include "analysis/quality.h"
#include "analysis/row.h"
#include "analysis/run_comm_stages.h"
#include "analysis/tables.h"

#define DOUBTFUL_NS 20000 // alignment errors above this are told

bool run_clocks_add(const struct run_comm *comm, struct report *report, struct err *err)
{
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        struct row row = {0};
        row_i64(&row, rank->rank);
        row_i64(&row, rank->component);
        row_i64(&row, rank->offset_ns);
        row_i64_if(&row, rank->error_ns >= 0, rank->error_ns);
        row_i64(&row, rank->clock_calls);
        row_null(&row); // drift
        if (!row_end(&row, &table_run_clocks, report, err))
            return false;
    }
    return true;
}

static bool add_quality(struct report *report, const struct quality *quality, struct err *err)
{
    if (quality->count == 0)
        return true;
    struct row row = {0};
    row_null(&row);
    row_word(&row, quality->item);
    row_word(&row, quality->severity);
    row_i64(&row, quality->count);
    row_i64_if(&row, quality->timed, quality->time_ns);
    row_null(&row);
    row_word(&row, quality->detail);
    row_word(&row, quality->effect);
    return row_end(&row, &table_run_quality, report, err);
}

static bool judge_components(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct quality quality = {
        .item = "clocks_not_comparable",
        .severity = "warning",
        .count = comm->component_count > 1 ? comm->component_count : 0,
        .detail = "sets of ranks that no collective joins; a rank without matched collectives is "
                  "one by itself",
        .effect = "waits are known within each set only; clocks of different sets cannot be "
                  "compared",
    };
    return add_quality(report, &quality, err);
}

static bool judge_errors(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct quality quality = {
        .item = "clock_alignment",
        .severity = "warning",
        .timed = true,
        .detail = "ranks whose collectives end more than 20 us apart from the others' at the "
                  "median, after their clocks were aligned; the time is the largest such error",
        .effect = "their waits and lateness are uncertain by about that much per call",
    };
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        int64_t error_ns = comm->ranks[r].error_ns;
        quality.count += error_ns > DOUBTFUL_NS;
        quality.time_ns = error_ns > quality.time_ns ? error_ns : quality.time_ns;
    }
    return add_quality(report, &quality, err);
}

// Calls that should have had a partner: of groups of more ranks than one of which two are there.
static bool has_partners(const struct run_comm *comm, const struct comm_op *op)
{
    const struct comm_group *group = &comm->groups[op->group];
    return group->name.len > 0 && group->rank_count > 1;
}

static bool judge_matches(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct quality alone = {
        .item = "unmatched_collectives",
        .severity = "warning",
        .timed = true,
        .detail = "calls of communication that other ranks of their group have no equal of",
        .effect = "whether they waited is not known; they count as transfer",
    };
    struct quality nameless = {
        .item = "collectives_without_group",
        .severity = "warning",
        .timed = true,
        .detail = "communication kernels without metadata: which ranks took part is not recorded",
        .effect = "they are not matched over ranks; whether they waited is not known, and clocks "
                  "cannot be aligned by them",
    };
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t i = 0; i < comm->ranks[r].count; i++) {
            const struct comm_event *event = &comm->ranks[r].events[i];
            const struct comm_op *op = &comm->ops[event->op];
            bool named = comm->groups[op->group].name.len > 0;
            if (event->match != RUN_NONE || (named && !has_partners(comm, op)))
                continue;
            struct quality *quality = named ? &alone : &nameless;
            quality->count++;
            quality->time_ns += event->dur_ns;
        }
    return add_quality(report, &alone, err) && add_quality(report, &nameless, err);
}

// A member less than ranks of the run call the group: that call was not recorded, or lies outside
// of the rank's window.
static bool judge_members(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct quality quality = {
        .item = "missing_calls",
        .severity = "warning",
        .detail = "calls of communication that single ranks of a group lack and the others have",
        .effect =
            "the collectives are matched over the ranks that have them; if the one that lacks "
            "its call came last, waiting for it seems to be transfer",
    };
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_op *op = &comm->ops[comm->matches[m].op];
        if (!run_comm_is_p2p(op->kind))
            quality.count += comm->groups[op->group].rank_count - comm->matches[m].count;
    }
    return add_quality(report, &quality, err);
}

bool run_clocks_judge(const struct run_comm *comm, struct report *report, struct err *err)
{
    bool calls = false;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        calls = calls || comm->ranks[r].count > 0;
    if (!calls || comm->rank_count < 2)
        return true;
    return judge_components(comm, report, err) && judge_errors(comm, report, err) &&
           judge_matches(comm, report, err) && judge_members(comm, report, err);
}
