// SPDX-License-Identifier: Apache-2.0
// The table clocks, and the trust report's lines about clocks and matches.
#include "analysis/report/trust.h"
#include "analysis/report/row.h"
#include "analysis/ranks/run_comm_stages.h"
#include "analysis/report/tables.h"
#include "analysis/stats/sort.h"

#include <math.h>
#include <stdlib.h>

#define DOUBTFUL_NS 50000      // alignment errors above this are reported
#define FAR_NS      1000000000 // clocks that differ by less are merely not set well

static const struct clock_jump *largest_jump(const struct comm_rank *rank)
{
    const struct clock_jump *largest = &rank->jumps[0];
    for (uint32_t j = 1; j < rank->jump_count; j++)
        if (llabs(rank->jumps[j].by_ns) > llabs(largest->by_ns))
            largest = &rank->jumps[j];
    return largest;
}

// A clock that runs fast, or was set forward, needs less added to it.
static void add_shape(const struct comm_rank *rank, struct row *row)
{
    const struct clock_jump *jump = largest_jump(rank);
    bool known = rank->clock_calls > 0, jumps = rank->jump_count > 0;
    row_f64_if(row, RUN_CLOCKS_DRIFT_PPM, known, rank->drift == 0 ? 0 : -rank->drift * 1e6);
    row_i64_if(row, RUN_CLOCKS_JUMPS, known, rank->jump_count);
    row_i64_if(row, RUN_CLOCKS_JUMP_NS, jumps, -jump->by_ns);
    row_i64_if(row, RUN_CLOCKS_JUMP_AT_NS, jumps, jump->at_ns - rank->origin_ns);
}

bool run_clocks_add(const struct run_comm *comm, struct report *report, struct err *err)
{
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        struct row row = {.desc = &table_run_clocks};
        row_i64(&row, RUN_CLOCKS_RANK, rank->rank);
        row_i64(&row, RUN_CLOCKS_COMPONENT, rank->component);
        row_i64(&row, RUN_CLOCKS_OFFSET_NS, rank->offset_ns);
        row_i64_if(&row, RUN_CLOCKS_ERROR_NS, rank->error_ns >= 0, rank->error_ns);
        row_i64(&row, RUN_CLOCKS_COLLECTIVES, rank->clock_calls);
        add_shape(rank, &row);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool add_doubt(struct report *report, const struct doubt *doubt, struct err *err)
{
    if (doubt->count == 0)
        return true;
    struct row row = {.desc = &table_run_trust};
    row_word(&row, RUN_TRUST_ITEM, doubt->item);
    row_word(&row, RUN_TRUST_SEVERITY, doubt->severity);
    row_i64(&row, RUN_TRUST_COUNT, doubt->count);
    row_i64_if(&row, RUN_TRUST_TIME_NS, doubt->timed, doubt->time_ns);
    row_word(&row, RUN_TRUST_DETAIL, doubt->detail);
    row_word(&row, RUN_TRUST_EFFECT, doubt->effect);
    return row_end(&row, report, err);
}

static bool judge_components(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "clocks_not_comparable",
        .severity = "warning",
        .count = comm->component_count > 1 ? comm->component_count : 0,
        .detail =
            "groups of ranks whose clocks cannot be aligned, as no matched collective, send or "
            "receive links them",
        .effect = "which rank waits for which is known only within a group; times of different "
                  "groups cannot be compared",
    };
    return add_doubt(report, &doubt, err);
}

static bool judge_errors(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "clock_alignment",
        .severity = "warning",
        .timed = true,
        .detail = "ranks with one in twenty collectives ending more than 50 us apart from the "
                  "others' after clock alignment; the time is the largest such error",
        .effect = "their waits and lateness are uncertain by about this much per call",
    };
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        int64_t error_ns = comm->ranks[r].error_ns;
        doubt.count += error_ns > DOUBTFUL_NS;
        doubt.time_ns = error_ns > doubt.time_ns ? error_ns : doubt.time_ns;
    }
    return add_doubt(report, &doubt, err);
}

static bool judge_strays(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt drift = {
        .item = "clock_drift",
        .severity = "info",
        .timed = true,
        .detail = "ranks whose clocks run faster or slower than those of most ranks (than the "
                  "lowest rank's without a majority); the time is the largest drift per second",
        .effect = "their times are corrected before ranks are compared",
    };
    struct doubt jump = {
        .item = "clock_jump",
        .severity = "warning",
        .timed = true,
        .detail = "ranks whose clocks were set during the recording, as time synchronization does; "
                  "the time is the largest such jump",
        .effect = "times after the jump are corrected before ranks are compared; the call in which "
                  "it happened and durations across it are uncertain",
    };
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        int64_t drift_ns = llround(fabs(rank->drift) * 1e9);
        int64_t jump_ns = llabs(largest_jump(rank)->by_ns);
        drift.count += rank->drift != 0;
        drift.time_ns = drift_ns > drift.time_ns ? drift_ns : drift.time_ns;
        jump.count += rank->jump_count > 0;
        if (rank->jump_count > 0 && jump_ns > jump.time_ns)
            jump.time_ns = jump_ns;
    }
    return add_doubt(report, &jump, err) && add_doubt(report, &drift, err);
}

// Calls that should have had a partner: in groups with more than one rank, of which at least two
// are there.
static bool has_partners(const struct run_comm *comm, const struct comm_op *op)
{
    const struct comm_group *group = &comm->groups[op->group];
    return group->name.len > 0 && group->rank_count > 1;
}

static bool judge_matches(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt alone = {
        .item = "unmatched_collectives",
        .severity = "warning",
        .timed = true,
        .detail = "communication calls without a matching call on the other ranks of the group",
        .effect = "their waits are unknown; they count as transfer",
    };
    struct doubt nameless = {
        .item = "collectives_without_group",
        .severity = "warning",
        .timed = true,
        .detail = "communication kernels without metadata: which ranks took part is not recorded",
        .effect = "they are not matched across ranks: their waits are unknown, and they do not "
                  "help to align clocks",
    };
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t i = 0; i < comm->ranks[r].count; i++) {
            const struct comm_event *event = &comm->ranks[r].events[i];
            const struct comm_op *op = &comm->ops[event->op];
            bool named = comm->groups[op->group].name.len > 0;
            if (event->match != RUN_NONE || event->joined || (named && !has_partners(comm, op)))
                continue;
            struct doubt *doubt = named ? &alone : &nameless;
            doubt->count++;
            doubt->time_ns += event->dur_ns;
        }
    return add_doubt(report, &alone, err) && add_doubt(report, &nameless, err);
}

static int64_t length_of(const struct comm_rank *rank)
{
    int64_t end_ns = rank->origin_ns;
    for (uint32_t i = 0; i < rank->count; i++) {
        int64_t ends_ns = rank->events[i].begin_ns + rank->events[i].dur_ns;
        end_ns = ends_ns > end_ns ? ends_ns : end_ns;
    }
    for (uint32_t i = 0; i < rank->step_count; i++)
        end_ns = rank->steps[i].end_ns > end_ns ? rank->steps[i].end_ns : end_ns;
    return end_ns - rank->origin_ns;
}

// Counts the ranks of one component, ordered by offset, whose clock differs from the middle one by
// more than the rank recorded.
static void count_apart(const struct run_comm *comm, const struct keyed *items, uint32_t count,
                        struct doubt *doubt)
{
    int64_t middle_ns = comm->ranks[items[(count - 1) / 2].a].offset_ns;
    for (uint32_t i = 0; i < count; i++) {
        const struct comm_rank *rank = &comm->ranks[items[i].a];
        int64_t away_ns = llabs(rank->offset_ns - middle_ns);
        if (away_ns <= FAR_NS || away_ns <= length_of(rank))
            continue;
        doubt->count++;
        doubt->time_ns = away_ns > doubt->time_ns ? away_ns : doubt->time_ns;
    }
}

static bool judge_windows(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "windows_apart",
        .severity = "warning",
        .timed = true,
        .detail = "ranks whose clocks differ from most by more than they recorded, or that are of "
                  "another attempt of the job; the time is the largest such difference",
        .effect = "if they are of another attempt, their calls do not belong to those of the other "
                  "ranks, and waits and lateness between them mean nothing",
    };
    struct arena arena;
    arena_init(&arena, comm->budget);
    struct keyed *items = arena_room(&arena, 2 * (size_t)comm->rank_count, sizeof *items, err);
    uint32_t count = 0;
    for (uint32_t r = 0; items && r < comm->rank_count; r++)
        if (comm->ranks[r].clock_calls > 0 && comm->ranks[r].origin_ns >= RUN_YEAR_2000_NS)
            items[count++] = (struct keyed){comm->ranks[r].offset_ns, r, 0};
    if (items)
        sort_keyed(items, items + comm->rank_count, count);
    for (uint32_t i = 0; i < count; i++)
        items[i].key = comm->ranks[items[i].a].component;
    if (items)
        sort_keyed(items, items + comm->rank_count, count);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && items[end].key == items[first].key;)
            end++;
        count_apart(comm, items + first, end - first, &doubt);
    }
    arena_free(&arena);
    return items && add_doubt(report, &doubt, err);
}

static bool judge_order(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "uncertain_matches",
        .severity = "warning",
        .detail = "ranks whose calls could belong to those of another step just as well: they are "
                  "not numbered, their ends fit both, and by the clocks another is nearer",
        .effect = "which step of theirs is which of the other ranks is a guess; if it is wrong, so "
                  "are their clock offset, waits and lateness",
    };
    for (uint32_t r = 0; r < comm->rank_count; r++)
        doubt.count += comm->ranks[r].open;
    return add_doubt(report, &doubt, err);
}

static bool judge_impossible(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "impossible_matches",
        .severity = "warning",
        .count = comm->impossible_count,
        .detail =
            "sends and receives that are alike in order, but the receive had ended before the "
            "send began",
        .effect = "the ranks were recorded from different steps on, or lack calls: which of their "
                  "sends belongs to which receive is unknown, and these count as transfer",
    };
    return add_doubt(report, &doubt, err);
}

// If a member is missing whose rank uses the group, the call was not recorded, or is outside that
// rank's window.
static bool judge_members(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "missing_calls",
        .severity = "warning",
        .detail = "communication calls missing on single ranks of a group",
        .effect = "the collectives are matched over the ranks that have them; if the missing rank "
                  "was last, waiting for it counts as transfer",
    };
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_op *op = &comm->ops[comm->matches[m].op];
        if (!run_comm_is_p2p(op->kind))
            doubt.count += comm->groups[op->group].rank_count - comm->matches[m].count;
    }
    return add_doubt(report, &doubt, err);
}

bool run_clocks_judge(const struct run_comm *comm, struct report *report, struct err *err)
{
    bool calls = false;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        calls = calls || comm->ranks[r].count > 0;
    if (!calls || comm->rank_count < 2)
        return true;
    return judge_windows(comm, report, err) && judge_components(comm, report, err) &&
           judge_errors(comm, report, err) && judge_strays(comm, report, err) &&
           judge_order(comm, report, err) && judge_impossible(comm, report, err) &&
           judge_matches(comm, report, err) && judge_members(comm, report, err);
}
