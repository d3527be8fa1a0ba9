// SPDX-License-Identifier: Apache-2.0
// Finds pipelines as connected sets of ranks that send to each other.
#include "analysis/ranks/pipeline_stages.h"

#include "analysis/comm/group_ranks.h"
#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"

struct link {
    int64_t calls;
    uint32_t op;
};

struct finder {
    const struct run_comm *comm;
    const struct strategy_use *use;
    struct pipeline_stages *stages;
    struct groups nodes; // ranks of the job, including missing ones
    uint32_t *parent;    // per node: towards the node that represents its pipeline
    uint32_t *place;     // per node: its stage
    uint32_t *chain;     // per node
    uint32_t *first;     // per chain: where its nodes start in `order`
    uint32_t *order;     // nodes by chain, then rank
    uint32_t *size;      // per node that represents a pipeline: its nodes
    int64_t *tally;      // per operation: calls of the current rank
    struct link *links;  // operations of the current rank
    uint32_t link_count;
    struct keyed *alike; // room for as many, twice
};

// --- rings --------------------------------------------------------------------------------------

// A ring's ranks send and receive alike, in both directions of the step.
static bool may_ring(const struct team *team)
{
    return team->uses[USE_SEND][PHASE_FORWARD].calls && team->uses[USE_SEND][PHASE_BACKWARD].calls;
}

static bool find_rings(struct finder *f, struct arena *arena, struct err *err)
{
    const struct run_comm *comm = f->comm;
    uint32_t teams = f->use->team_count;
    int64_t *sent = arena_array(arena, 2 * (size_t)teams, sizeof *sent, err);
    if (!sent)
        return false;
    int64_t *received = sent + teams;
    for (uint32_t t = 0; t < teams; t++)
        f->stages->ring[t] = may_ring(&f->use->teams[t]);
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        memset(sent, 0, 2 * (size_t)teams * sizeof *sent);
        for (uint32_t e = 0; e < comm->ranks[r].count; e++) {
            const struct comm_op *op = &comm->ops[comm->ranks[r].events[e].op];
            uint32_t team = f->use->team_of[op->group];
            if (!f->stages->ring[team] || strategy_use_phase(op) != PHASE_FORWARD)
                continue;
            sent[team] += op->kind == KIND_SEND;
            received[team] += op->kind == KIND_RECV;
        }
        for (uint32_t t = 0; t < teams; t++) {
            int64_t apart = sent[t] > received[t] ? sent[t] - received[t] : received[t] - sent[t];
            if ((double)apart > STRATEGY_RING_SHARE * (double)(sent[t] + received[t]))
                f->stages->ring[t] = false;
        }
    }
    return true;
}

// --- chains -------------------------------------------------------------------------------------

static uint32_t stand_in(struct finder *f, uint32_t node)
{
    while (f->parent[node] != node) {
        f->parent[node] = f->parent[f->parent[node]];
        node = f->parent[node];
    }
    return node;
}

static bool node_of(struct finder *f, int64_t rank, uint32_t *node, struct err *err)
{
    uint32_t known = f->nodes.count;
    if (!groups_index(&f->nodes, (uint64_t)rank, 0, node, err))
        return false;
    if (*node == known)
        f->parent[*node] = *node;
    return true;
}

static bool join_ranks(struct finder *f, int64_t a, int64_t b, struct err *err)
{
    uint32_t node_a, node_b;
    if (!node_of(f, a, &node_a, err) || !node_of(f, b, &node_b, err))
        return false;
    f->parent[stand_in(f, node_b)] = stand_in(f, node_a);
    return true;
}

// Whether the operation passes something on within a pipeline.
static bool passes_on(const struct finder *f, const struct comm_op *op)
{
    enum use_kind kind;
    return run_comm_is_p2p(op->kind) && strategy_use_kind(op, &kind) &&
           !f->stages->ring[f->use->team_of[op->group]];
}

static bool join_peers(struct finder *f, struct err *err)
{
    const struct comm_rank *rank = f->comm->ranks;
    for (uint32_t r = 0; r < f->comm->rank_count; r++, rank++)
        for (uint32_t e = 0; e < rank->count; e++) {
            const struct comm_op *op = &f->comm->ops[rank->events[e].op];
            if (op->peer < 0 || !passes_on(f, op))
                continue;
            f->stages->from_peers = true;
            if (!join_ranks(f, rank->rank, op->peer, err))
                return false;
        }
    return true;
}

// If no call gives its peer, all ranks of a group that sends are one pipeline.
static bool join_groups(struct finder *f, struct err *err)
{
    for (uint32_t o = 0; o < f->comm->op_count; o++) {
        const struct comm_op *op = &f->comm->ops[o];
        const struct comm_group *group = &f->comm->groups[op->group];
        if (!group->list.len || !passes_on(f, op))
            continue;
        for (uint32_t i = 1; i < group->rank_count; i++)
            if (!join_ranks(f, f->comm->ranks[group->ranks[0]].rank,
                            f->comm->ranks[group->ranks[i]].rank, err))
                return false;
    }
    return true;
}

static void number_nodes(struct finder *f, struct keyed *items)
{
    uint32_t count = f->nodes.count, chains = 0;
    for (uint32_t n = 0; n < count; n++)
        items[n] = (struct keyed){(int64_t)f->nodes.keys[n].a, n, 0};
    sort_keyed(items, items + count, count);
    for (uint32_t n = 0; n < count; n++)
        f->chain[n] = RUN_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = items[i].a, head = stand_in(f, node);
        if (f->chain[head] == RUN_NONE)
            f->chain[head] = chains++;
        f->chain[node] = f->chain[head];
        f->place[node] = f->size[f->chain[node]]++;
    }
    for (uint32_t c = 0; c < chains; c++)
        f->first[c + 1] = f->first[c] + f->size[c];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = items[i].a;
        f->order[f->first[f->chain[node]] + f->place[node]] = node;
    }
    f->stages->chain_count = chains;
    for (uint32_t c = 0; c < chains; c++)
        if (f->size[c] > f->stages->stage_count)
            f->stages->stage_count = f->size[c];
}

static bool place_ranks(struct finder *f, struct arena *arena, struct err *err)
{
    uint32_t count = f->nodes.count;
    struct keyed *items = arena_room(arena, 2 * (size_t)count, sizeof *items, err);
    f->place = arena_array(arena, count, sizeof *f->place, err);
    f->chain = arena_array(arena, count, sizeof *f->chain, err);
    f->order = arena_array(arena, count, sizeof *f->order, err);
    f->size = arena_array(arena, count, sizeof *f->size, err);
    f->first = arena_array(arena, (size_t)count + 1, sizeof *f->first, err);
    if (!items || !f->place || !f->chain || !f->order || !f->size || !f->first)
        return false;
    number_nodes(f, items);
    for (uint32_t r = 0; r < f->comm->rank_count; r++) {
        uint32_t node, known = f->nodes.count;
        f->stages->chain[r] = f->stages->stage[r] = RUN_NONE;
        if (!groups_index(&f->nodes, (uint64_t)f->comm->ranks[r].rank, 0, &node, err))
            return false;
        if (node == known || node >= count)
            continue; // a rank that sends nothing
        f->stages->chain[r] = f->chain[node];
        f->stages->stage[r] = f->place[node];
    }
    return true;
}

// --- direction ----------------------------------------------------------------------------------

// 1 when the rank's first call of a step sends, -1 when it receives.
static int first_direction(const struct finder *f, const struct comm_rank *rank)
{
    uint32_t step = RUN_NONE;
    int votes = 0;
    for (uint32_t e = 0; e < rank->count; e++) {
        const struct comm_event *event = &rank->events[e];
        const struct comm_op *op = &f->comm->ops[event->op];
        if (event->step == step || event->step == RUN_NONE || !passes_on(f, op) ||
            !strategy_use_counts(rank, event, f->use->steady))
            continue;
        step = event->step;
        votes += op->kind == KIND_SEND ? 1 : op->kind == KIND_RECV ? -1 : 0;
    }
    return votes > 0 ? 1 : votes < 0 ? -1 : 0;
}

// Ranks usually ascend along a pipeline. If the last ones send first, they descend.
static void turn_round(struct finder *f)
{
    struct pipeline_stages *stages = f->stages;
    int64_t votes = 0;
    for (uint32_t r = 0; r < f->comm->rank_count; r++) {
        if (stages->chain[r] == RUN_NONE)
            continue;
        uint32_t last = f->size[stages->chain[r]] - 1;
        bool is_first = stages->stage[r] == 0, is_last = stages->stage[r] == last;
        if (is_first != is_last)
            votes += (is_first ? 1 : -1) * first_direction(f, &f->comm->ranks[r]);
    }
    if (votes >= 0)
        return;
    for (uint32_t r = 0; r < f->comm->rank_count; r++)
        if (stages->chain[r] != RUN_NONE)
            stages->stage[r] = f->size[stages->chain[r]] - 1 - stages->stage[r];
    for (uint32_t c = 0; c < stages->chain_count; c++)
        for (uint32_t i = f->first[c], j = f->first[c + 1] - 1; i < j; i++, j--) {
            uint32_t node = f->order[i];
            f->order[i] = f->order[j];
            f->order[j] = node;
        }
}

// --- micro-batches ------------------------------------------------------------------------------

static void list_links(struct finder *f, const struct comm_rank *rank)
{
    f->link_count = 0;
    for (uint32_t e = 0; e < rank->count; e++) {
        uint32_t op = rank->events[e].op;
        if (!passes_on(f, &f->comm->ops[op]) ||
            !strategy_use_counts(rank, &rank->events[e], f->use->steady))
            continue;
        if (f->tally[op]++ == 0)
            f->links[f->link_count++].op = op;
    }
    for (uint32_t i = 0; i < f->link_count; i++) {
        f->links[i].calls = f->tally[f->links[i].op];
        f->tally[f->links[i].op] = 0;
    }
}

// Calls with one peer, of the most frequent size and type: a micro-batch may pass several tensors.
static int64_t most_calls(const struct finder *f, enum collective_kind kind, int64_t peer)
{
    int64_t most = 0, calls = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->link_count; i++) {
        const struct comm_op *op = &f->comm->ops[f->links[i].op];
        uint64_t type = hash_keyed(HASH_KEY_FIXED, op->dtype.at, op->dtype.len);
        if (op->kind == kind && op->peer == peer)
            f->alike[count++] =
                (struct keyed){(int64_t)(hash_u64((uint64_t)op->bytes) ^ type), i, 0};
    }
    sort_keyed(f->alike, f->alike + count, count);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0 && f->alike[i].key == f->alike[i - 1].key;
        calls = f->links[f->alike[i].a].calls + (same ? calls : 0);
        most = calls > most ? calls : most;
    }
    return most;
}

static int64_t rank_at(const struct finder *f, uint32_t chain, uint32_t stage)
{
    return (int64_t)f->nodes.keys[f->order[f->first[chain] + stage]].a;
}

// Per step, what a stage receives from the previous one, or the first stage from the last.
static int64_t received(struct finder *f, uint32_t r)
{
    const struct comm_rank *rank = &f->comm->ranks[r];
    uint32_t chain = f->stages->chain[r], stage = f->stages->stage[r];
    uint32_t before = stage ? stage - 1 : f->size[chain] - 1;
    list_links(f, rank);
    int64_t steps = run_comm_steps(rank, f->use->steady);
    return (most_calls(f, KIND_RECV, rank_at(f, chain, before)) + steps / 2) / steps;
}

static int64_t median(int64_t *values, int64_t *scratch, size_t count)
{
    sort_i64(values, scratch, count);
    return count ? values[(count - 1) / 2] : 0;
}

// With several chunks per rank, data passes each stage that often, and the last stage returns it to
// the first except the last time. Only two stages hide this: what they return may be gradients.
static bool count_batches(struct finder *f, struct arena *arena, struct err *err)
{
    struct pipeline_stages *stages = f->stages;
    uint32_t ranks = f->comm->rank_count;
    size_t through_count = 0, around_count = 0;
    int64_t *values = arena_array(arena, 3 * (size_t)ranks, sizeof *values, err);
    f->tally = arena_array(arena, f->comm->op_count, sizeof *f->tally, err);
    f->links = arena_array(arena, f->comm->op_count, sizeof *f->links, err);
    f->alike = arena_array(arena, 2 * (size_t)f->comm->op_count, sizeof *f->alike, err);
    if (!values || !f->tally || !f->links || !f->alike)
        return false;
    int64_t *around = values + ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        if (stages->chain[r] == RUN_NONE)
            continue;
        if (stages->stage[r] > 0)
            values[through_count++] = received(f, r);
        else if (f->size[stages->chain[r]] > 2)
            around[around_count++] = received(f, r);
    }
    int64_t through_calls = median(values, around + ranks, through_count);
    int64_t around_calls = median(around, around + ranks, around_count);
    stages->micro_batches = through_calls > around_calls ? through_calls - around_calls : 0;
    stages->chunks = stages->micro_batches ? through_calls / stages->micro_batches : 1;
    return true;
}

static bool find(struct finder *f, struct arena *arena, struct err *err)
{
    const struct run_comm *comm = f->comm;
    size_t room = (size_t)comm->rank_count + comm->op_count + 1;
    f->parent = arena_array(arena, room, sizeof *f->parent, err);
    if (!f->parent || !find_rings(f, arena, err) || !join_peers(f, err) ||
        (!f->stages->from_peers && !join_groups(f, err)) || !place_ranks(f, arena, err))
        return false;
    turn_round(f);
    return f->stages->stage_count == 0 || count_batches(f, arena, err);
}

bool pipeline_stages_find(const struct run_comm *comm, const struct strategy_use *use,
                          struct arena *arena, struct pipeline_stages *stages, struct err *err)
{
    *stages = (struct pipeline_stages){.chunks = 1};
    stages->ring = arena_array(arena, use->team_count, sizeof *stages->ring, err);
    stages->chain = arena_array(arena, comm->rank_count, sizeof *stages->chain, err);
    stages->stage = arena_array(arena, comm->rank_count, sizeof *stages->stage, err);
    if (!stages->ring || !stages->chain || !stages->stage)
        return false;
    struct finder f = {.comm = comm, .use = use, .stages = stages};
    groups_init(&f.nodes, comm->budget);
    bool ok = find(&f, arena, err);
    groups_free(&f.nodes);
    return ok;
}
