// SPDX-License-Identifier: Apache-2.0
// Groups whose ranks arrive at different times by design, because they send to each other.
#include "analysis/ranks/run_comm_stages.h"
#include "analysis/ranks/strategy_use.h"

// --- rings --------------------------------------------------------------------------------------

// What a group's ranks send to each other.
struct traffic {
    int64_t sent, received; // in the forward, by the current rank
    bool backward,
        uneven; // some rank sends in the backward, or sends more or less than it receives
};

static void count_traffic(const struct run_comm *comm, const struct comm_rank *rank,
                          const enum comm_phase *phases, struct traffic *traffic)
{
    for (uint32_t i = 0; i < rank->count; i++) {
        const struct comm_op *op = &comm->ops[rank->events[i].op];
        struct traffic *of = &traffic[op->group];
        if (!run_comm_is_p2p(op->kind))
            continue;
        of->backward |= phases[rank->events[i].op] == PHASE_BACKWARD && op->kind != KIND_RECV;
        if (phases[rank->events[i].op] != PHASE_FORWARD)
            continue;
        of->sent += op->kind != KIND_RECV;
        of->received += op->kind != KIND_SEND;
    }
}

static void settle_traffic(const struct run_comm *comm, const struct comm_rank *rank,
                           struct traffic *traffic)
{
    for (uint32_t i = 0; i < rank->count; i++) {
        struct traffic *of = &traffic[comm->ops[rank->events[i].op].group];
        int64_t apart = of->sent > of->received ? of->sent - of->received : of->received - of->sent;
        of->uneven |= (double)apart > STRATEGY_RING_SHARE * (double)(of->sent + of->received);
        of->sent = of->received = 0;
    }
}

// Groups whose ranks are all there and send and receive alike, in both passes: they do the same and
// pass data round, as in context parallelism. The ends of a pipeline do not.
static bool find_rings(const struct run_comm *comm, struct arena *scratch, bool **ring,
                       struct err *err)
{
    struct traffic *traffic = arena_array(scratch, comm->group_count, sizeof *traffic, err);
    enum comm_phase *phases = arena_array(scratch, comm->op_count, sizeof *phases, err);
    *ring = arena_array(scratch, comm->group_count, sizeof **ring, err);
    if (!traffic || !phases || !*ring)
        return false;
    for (uint32_t o = 0; o < comm->op_count; o++)
        phases[o] = strategy_use_phase(&comm->ops[o]);
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        count_traffic(comm, &comm->ranks[r], phases, traffic);
        settle_traffic(comm, &comm->ranks[r], traffic);
    }
    for (uint32_t g = 0; g < comm->group_count; g++)
        (*ring)[g] = traffic[g].backward && !traffic[g].uneven &&
                     comm->groups[g].rank_count == comm->groups[g].size;
    return true;
}

// --- stages -------------------------------------------------------------------------------------

// Joins ranks that send to each other, directly or through others, except in rings.
static void join_senders(const struct run_comm *comm, const bool *ring, uint32_t *parent)
{
    for (uint32_t r = 0; r < comm->rank_count; r++)
        parent[r] = r;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_match *match = &comm->matches[m];
        const struct comm_op *op = &comm->ops[match->op];
        if (!run_comm_is_p2p(op->kind) || ring[op->group])
            continue;
        uint32_t a = run_joined_root(parent, comm->members[match->first].rank);
        uint32_t b = run_joined_root(parent, comm->members[match->first + 1].rank);
        parent[a > b ? a : b] = a > b ? b : a;
    }
}

static bool is_staged(const struct comm_group *group, uint32_t mark, uint32_t *parent,
                      uint32_t *marks)
{
    for (uint32_t i = 0; i < group->rank_count; i++) {
        uint32_t root = run_joined_root(parent, group->ranks[i]);
        if (marks[root] == mark)
            return true;
        marks[root] = mark;
    }
    return false;
}

bool run_staged_make(struct run_comm *comm, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    uint32_t *parent = arena_room(&scratch, comm->rank_count, sizeof *parent, err);
    uint32_t *marks = arena_array(&scratch, comm->rank_count, sizeof *marks, err);
    bool *ring;
    bool ok = parent && marks && find_rings(comm, &scratch, &ring, err);
    if (ok)
        join_senders(comm, ring, parent);
    for (uint32_t g = 0; ok && g < comm->group_count; g++)
        comm->groups[g].staged = is_staged(&comm->groups[g], g + 1, parent, marks);
    arena_free(&scratch);
    return ok;
}
