// SPDX-License-Identifier: Apache-2.0
// Compute runs in order on each stage, and each kind of send or receive on its own stream. A
// receive comes before the compute that reads it, a send after the compute that wrote it; a send
// and its receive, and what all data ranks do together, wait for each other.
#include "tests/oracle/straggler/order.h"

#include <assert.h>
#include <stdlib.h>

#define CLOCK_ERROR_S 5e-5 // by which clocks of different streams may disagree

// Operation `to` waits for the end of `from`, on every data rank.
struct wait {
    uint32_t from, to;
};

struct maker {
    const struct job *job;
    struct order *order;
    uint32_t stages;
    struct wait *waits;
    size_t wait_count, wait_cap;
    uint32_t *list;  // operations in order, while a stage is looked at
    uint32_t *valid; // per operation that sends or receives: how many of its kind came before it
};

static bool add_wait(struct maker *maker, uint32_t from, uint32_t to, struct err *err)
{
    if (maker->wait_count == maker->wait_cap) {
        size_t cap = maker->wait_cap ? 2 * maker->wait_cap : 1024, size = sizeof *maker->waits;
        void *waits =
            arena_grow(maker->job->arena, maker->waits, maker->wait_cap * size, cap * size, err);
        if (!waits)
            return false;
        maker->waits = waits;
        maker->wait_cap = cap;
    }
    maker->waits[maker->wait_count++] = (struct wait){from, to};
    return true;
}

// Each of the list after the one before it.
static bool add_chain(struct maker *maker, const uint32_t *list, uint32_t count, struct err *err)
{
    for (uint32_t i = 1; i < count; i++)
        if (!add_wait(maker, list[i - 1], list[i], err))
            return false;
    return true;
}

static double end_of(const struct op *op)
{
    return op->first.end_s;
}

// --- lists in order of begin --------------------------------------------------------------------

struct begun {
    double begin_s;
    uint32_t seq, op;
};

static int compare_begun(const void *left, const void *right)
{
    const struct begun *a = left, *b = right;
    if (a->begin_s != b->begin_s)
        return a->begin_s < b->begin_s ? -1 : 1;
    if (a->seq != b->seq)
        return a->seq < b->seq ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

// Fills the maker's list with the stage's operations of these types.
static bool list_types(struct maker *maker, uint32_t stage, unsigned types, uint32_t *count,
                       struct err *err)
{
    const struct job *job = maker->job;
    struct arena scratch;
    arena_init(&scratch, NULL);
    struct begun *begun = arena_room(&scratch, job->op_count, sizeof *begun, err);
    *count = 0;
    for (uint32_t o = 0; begun && o < job->op_count; o++)
        if (job->ops[o].stage == stage && (types & 1u << job->ops[o].type))
            begun[(*count)++] = (struct begun){job->ops[o].first.begin_s, job->ops[o].seq, o};
    if (begun)
        qsort(begun, *count, sizeof *begun, compare_begun);
    for (uint32_t i = 0; begun && i < *count; i++)
        maker->list[i] = begun[i].op;
    arena_free(&scratch);
    return begun != NULL;
}

#define COMPUTE (1u << OP_FORWARD | 1u << OP_BACKWARD)

static bool chain_types(struct maker *maker, uint32_t stage, unsigned types, struct err *err)
{
    uint32_t count;
    return list_types(maker, stage, types, &count, err) &&
           add_chain(maker, maker->list, count, err);
}

// --- groups -------------------------------------------------------------------------------------

static uint32_t new_group(struct maker *maker, bool all_data_ranks)
{
    maker->order->all_data_ranks[maker->order->group_count] = all_data_ranks;
    return maker->order->group_count++;
}

// --- sends and receives -------------------------------------------------------------------------

// One kind of transfer between stages.
struct transfer {
    enum op_type type, compute, peer;
    bool receives;
    int step; // to the stage of the peer
};

static const struct transfer transfers[] = {
    {OP_FORWARD_SEND, OP_FORWARD, OP_FORWARD_RECV, false, 1},
    {OP_FORWARD_RECV, OP_FORWARD, OP_FORWARD_SEND, true, -1},
    {OP_BACKWARD_SEND, OP_BACKWARD, OP_BACKWARD_RECV, false, -1},
    {OP_BACKWARD_RECV, OP_BACKWARD, OP_BACKWARD_SEND, true, 1},
};
enum { TRANSFERS = sizeof transfers / sizeof transfers[0] };

// The stage's computes of a type, and between which moments its transfers count.
struct computes {
    uint32_t count;
    double last_begin_s, first_end_s;
};

static struct computes computes_of(const struct job *job, enum op_type type, uint32_t stage)
{
    struct computes found = {0};
    for (uint32_t o = 0; o < job->op_count; o++) {
        const struct op *op = &job->ops[o];
        if (op->stage != stage || op->type != type)
            continue;
        double end_s = end_of(op);
        if (found.count == 0 || op->first.begin_s > found.last_begin_s)
            found.last_begin_s = op->first.begin_s;
        if (found.count == 0 || end_s < found.first_end_s)
            found.first_end_s = end_s;
        found.count++;
    }
    return found;
}

// The recorder also notes transfers before the first result or after the last use, which never
// happened.
static bool happens(const struct transfer *kind, const struct computes *computes,
                    const struct op *op)
{
    if (kind->receives)
        return op->first.begin_s <= computes->last_begin_s + CLOCK_ERROR_S;
    return end_of(op) >= computes->first_end_s - CLOCK_ERROR_S;
}

static bool has_peer(const struct maker *maker, const struct transfer *kind, int64_t whole_chunk,
                     int64_t chunks)
{
    int64_t peer = whole_chunk + kind->step;
    return peer >= 0 && peer < chunks * maker->stages;
}

// A receive comes after the compute before the one that reads it, so that it does not run ahead.
static bool wait_for_compute(struct maker *maker, const struct transfer *kind, uint32_t op,
                             uint32_t compute, struct err *err)
{
    if (!kind->receives)
        return add_wait(maker, compute, op, err);
    const struct op *reader = &maker->job->ops[compute];
    uint32_t before = reader->seq
                          ? job_find(maker->job, kind->compute, reader->seq - 1, reader->stage)
                          : JOB_NONE;
    return add_wait(maker, op, compute, err) &&
           (before == JOB_NONE || add_wait(maker, before, op, err));
}

static int64_t most_chunks(const struct job *job)
{
    int64_t chunks = 1;
    for (uint32_t o = 0; o < job->op_count; o++)
        chunks = job->ops[o].chunk + 1 > chunks ? job->ops[o].chunk + 1 : chunks;
    return chunks;
}

// The first compute that a transfer belongs to. The first stage's first receive may be missing.
static bool first_compute(const struct maker *maker, const struct transfer *kind, uint32_t stage,
                          uint32_t happening, uint32_t *first, struct err *err)
{
    uint32_t count = computes_of(maker->job, kind->compute, stage).count;
    bool at_border = stage == 0 || stage == maker->stages - 1;
    *first = kind->receives && happening + 1 == count;
    if (happening == count || (at_border && (happening == 0 || happening + 1 == count)))
        return true;
    return err_set(err, ERR_FORMAT, "found %u %s of stage %u, expected %u", happening,
                   op_type_name[kind->type], stage, count);
}

static bool match_transfers(struct maker *maker, const struct transfer *kind, uint32_t stage,
                            struct err *err)
{
    const struct job *job = maker->job;
    const struct computes computes = computes_of(job, kind->compute, stage);
    uint32_t count, happening = 0, seq, valid = 0;
    int64_t chunks = most_chunks(job);
    if (!list_types(maker, stage, 1u << kind->type, &count, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        happening += happens(kind, &computes, &job->ops[maker->list[i]]);
    if (!first_compute(maker, kind, stage, happening, &seq, err))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t op = maker->list[i];
        if (!happens(kind, &computes, &job->ops[op]))
            continue;
        uint32_t compute = job_find(job, kind->compute, seq++, stage);
        if (compute == JOB_NONE)
            return err_set(err, ERR_FORMAT, "found no compute for %s %u of stage %u",
                           op_type_name[kind->type], job->ops[op].seq, stage);
        if (!wait_for_compute(maker, kind, op, compute, err))
            return false;
        if (has_peer(maker, kind, job->ops[compute].whole_chunk, chunks))
            maker->valid[op] = valid++;
    }
    return add_chain(maker, maker->list, count, err);
}

// Pairs the sends of a stage with the receives of its neighbor; the rest waits for nobody.
static bool pair_transfers(struct maker *maker, struct err *err)
{
    const struct job *job = maker->job;
    uint32_t *group = maker->order->group;
    for (uint32_t k = 0; k < TRANSFERS; k++)
        for (uint32_t o = 0; o < job->op_count; o++) {
            const struct op *op = &job->ops[o];
            if (op->type != transfers[k].type || group[o] != JOB_NONE)
                continue;
            group[o] = new_group(maker, false);
            if (maker->valid[o] == JOB_NONE)
                continue;
            uint32_t peer_stage =
                (op->stage + maker->stages + (uint32_t)transfers[k].step) % maker->stages;
            uint32_t peer = 0;
            while (peer < job->op_count &&
                   !(job->ops[peer].type == transfers[k].peer &&
                     job->ops[peer].stage == peer_stage && maker->valid[peer] == maker->valid[o]))
                peer++;
            if (peer == job->op_count)
                return err_set(err, ERR_FORMAT, "found no peer of %s %u of stage %u",
                               op_type_name[op->type], op->seq, op->stage);
            group[peer] = group[o];
        }
    return true;
}

// The first backward's transfers run while the forward just before it does.
static bool wait_for_warmup(struct maker *maker, uint32_t stage, struct err *err)
{
    const struct job *job = maker->job;
    uint32_t count, first = 0;
    if (!list_types(maker, stage, COMPUTE, &count, err))
        return false;
    while (first < count && job->ops[maker->list[first]].type != OP_BACKWARD)
        first++;
    if (first < 2 || first == count)
        return true;
    uint32_t send = job_find(job, OP_BACKWARD_SEND, 0, stage);
    uint32_t recv = job_find(job, OP_BACKWARD_RECV, 0, stage);
    return (send == JOB_NONE || add_wait(maker, maker->list[first - 2], send, err)) &&
           (recv == JOB_NONE || add_wait(maker, maker->list[first - 2], recv, err));
}

// --- gradients and parameters -------------------------------------------------------------------

// The stage's compute of a type and chunk that begins first or ends last.
static uint32_t extreme_compute(const struct job *job, uint32_t stage, enum op_type type,
                                int64_t chunk)
{
    uint32_t best = JOB_NONE;
    for (uint32_t o = 0; o < job->op_count; o++) {
        const struct op *op = &job->ops[o], *other = best == JOB_NONE ? NULL : &job->ops[best];
        if (op->stage != stage || op->type != type || op->chunk != chunk)
            continue;
        if (!other || (type == OP_FORWARD ? op->first.begin_s < other->first.begin_s
                                          : end_of(op) > end_of(other)))
            best = o;
    }
    return best;
}

// A chunk's first forward waits for the last of its parameters, and the first of its gradients for
// its last backward.
static bool wait_for_chunks(struct maker *maker, uint32_t stage, enum op_type type, struct err *err)
{
    const struct job *job = maker->job;
    for (uint32_t o = 0; o < job->op_count; o++) {
        const struct op *op = &job->ops[o];
        if (op->stage != stage || op->type != type)
            continue;
        bool gathers = type == OP_PARAMS_GATHER, counts = true;
        for (uint32_t p = 0; p < job->op_count; p++) {
            const struct op *other = &job->ops[p];
            if (other->stage == stage && other->type == type && other->chunk == op->chunk)
                counts = counts && (gathers ? other->seq <= op->seq : other->seq >= op->seq);
        }
        uint32_t compute =
            extreme_compute(job, stage, gathers ? OP_FORWARD : OP_BACKWARD, op->chunk);
        if (!counts || compute == JOB_NONE)
            continue;
        if (!add_wait(maker, gathers ? o : compute, gathers ? compute : o, err))
            return false;
    }
    return true;
}

static bool job_has(const struct job *job, enum op_type type)
{
    for (uint32_t o = 0; o < job->op_count; o++)
        if (job->ops[o].type == type)
            return true;
    return false;
}

static uint32_t last_compute(const struct job *job, uint32_t stage)
{
    uint32_t last = JOB_NONE;
    for (uint32_t o = 0; o < job->op_count; o++)
        if (job->ops[o].stage == stage && (1u << job->ops[o].type & COMPUTE) &&
            (last == JOB_NONE || end_of(&job->ops[o]) > end_of(&job->ops[last])))
            last = o;
    return last;
}

// What remains after the last compute, one after the other. Gradients are scattered during the
// backward if they are reduced separately afterwards.
static bool chain_end(struct maker *maker, uint32_t stage, bool shares_data, struct err *err)
{
    const struct job *job = maker->job;
    bool during = job_has(job, OP_SEPARATE_REDUCE);
    uint32_t *list = maker->list, count = 0, scatters = 0, last_scatter = JOB_NONE;
    uint32_t collect = job_find(job, OP_GC, 0, stage), compute = last_compute(job, stage);
    list[count++] = compute;
    list[count++] = collect;
    uint32_t layernorm = list[count++] = job_find(job, OP_LAYERNORM_REDUCE, 0, stage);
    if (stage == 0 || stage == maker->stages - 1)
        list[count++] = job_find(job, OP_EMBEDDING_REDUCE, 0, stage);
    while (job_find(job, OP_GRADS_SCATTER, scatters, stage) != JOB_NONE)
        last_scatter = job_find(job, OP_GRADS_SCATTER, scatters++, stage);
    for (uint32_t i = 0; i < scatters && shares_data && !during; i++)
        list[count++] = job_find(job, OP_GRADS_SCATTER, i, stage);
    if (shares_data && during)
        list[count++] = job_find(job, OP_SEPARATE_REDUCE, 0, stage);
    list[count++] = job_find(job, OP_CLIP, 0, stage);
    list[count++] = job_find(job, OP_OPTIMIZER, 0, stage);
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == JOB_NONE)
            return err_set(err, ERR_FORMAT, "stage %u lacks an operation after its last compute",
                           stage);
    bool waits = shares_data && during && last_scatter != JOB_NONE;
    return add_chain(maker, list, count, err) &&
           (!waits || add_wait(maker, last_scatter, layernorm, err));
}

static bool order_stage(struct maker *maker, uint32_t stage, struct err *err)
{
    const struct job *job = maker->job;
    bool shares_data = job->data_ranks * job->sequence_size > 1;
    const unsigned shared = 1u << OP_PARAMS_GATHER | 1u << OP_GRADS_SCATTER;
    for (uint32_t k = 0; k < TRANSFERS; k++)
        if (!match_transfers(maker, &transfers[k], stage, err))
            return false;
    if (!chain_types(maker, stage, COMPUTE, err) || !wait_for_warmup(maker, stage, err))
        return false;
    if (shares_data && (!chain_types(maker, stage, shared, err) ||
                        !wait_for_chunks(maker, stage, OP_PARAMS_GATHER, err)))
        return false;
    if (shares_data && job_has(job, OP_SEPARATE_REDUCE) &&
        !wait_for_chunks(maker, stage, OP_GRADS_SCATTER, err))
        return false;
    return chain_end(maker, stage, shares_data, err);
}

// What the data ranks do together; the ends of the pipeline share the embedding; all clip as one.
static void group_rest(struct maker *maker)
{
    const struct job *job = maker->job;
    uint32_t *group = maker->order->group;
    bool shares_data = job->data_ranks * job->sequence_size > 1;
    uint32_t embedding = new_group(maker, false), clip = new_group(maker, true);
    for (uint32_t o = 0; o < job->op_count; o++) {
        const struct op *op = &job->ops[o];
        bool shared = op->type == OP_PARAMS_GATHER || op->type == OP_GRADS_SCATTER ||
                      op->type == OP_SEPARATE_REDUCE;
        if (shared && shares_data)
            group[o] = new_group(maker, true);
        else if (op->type == OP_CLIP && op->seq == 0)
            group[o] = clip;
        else if (op->type == OP_EMBEDDING_REDUCE && op->seq == 0 &&
                 (op->stage == 0 || op->stage == maker->stages - 1))
            group[o] = embedding;
    }
}

// --- the graph ----------------------------------------------------------------------------------

// Where the transfers of a group start: a node after those of the operations.
static uint32_t join_node(const struct job *job, const struct order *order, uint32_t data_rank,
                          uint32_t group)
{
    uint32_t of = order->all_data_ranks[group] ? 0 : data_rank;
    return job->data_ranks * job->op_count + of * order->group_count + group;
}

// An operation that communicates starts with its group, so the group waits for what any of it does.
static bool make_graph(struct maker *maker, struct err *err)
{
    const struct job *job = maker->job;
    struct order *order = maker->order;
    size_t most = (maker->wait_count + job->op_count) * job->data_ranks, count = 0;
    struct replay_edge *edges = arena_room(job->arena, most, sizeof *edges, err);
    if (!edges)
        return false;
    for (uint32_t d = 0; d < job->data_ranks; d++) {
        for (size_t w = 0; w < maker->wait_count; w++) {
            uint32_t to = maker->waits[w].to, group = order->group[to];
            uint32_t node =
                group == JOB_NONE ? order_node(job, d, to) : join_node(job, order, d, group);
            edges[count++] =
                (struct replay_edge){order_node(job, d, maker->waits[w].from), node, 0};
        }
        for (uint32_t o = 0; o < job->op_count; o++)
            if (order->group[o] != JOB_NONE)
                edges[count++] = (struct replay_edge){join_node(job, order, d, order->group[o]),
                                                      order_node(job, d, o), 0};
    }
    assert(count <= most);
    uint32_t nodes = job->data_ranks * (job->op_count + order->group_count);
    return replay_graph_make(edges, count, nodes, job->arena, &order->graph, err);
}

bool order_make(const struct job *job, struct order *order, struct err *err)
{
    struct maker maker = {.job = job, .order = order, .stages = job->stages};
    uint32_t most_groups = job->op_count + 2;
    if ((uint64_t)job->data_ranks * (job->op_count + most_groups) >= UINT32_MAX)
        return err_set(err, ERR_LIMIT, "a step has too many operations");
    *order = (struct order){0};
    order->group = arena_room(job->arena, job->op_count, sizeof *order->group, err);
    order->all_data_ranks =
        arena_array(job->arena, most_groups, sizeof *order->all_data_ranks, err);
    maker.list = arena_room(job->arena, (size_t)job->op_count + 8, sizeof *maker.list, err);
    maker.valid = arena_room(job->arena, job->op_count, sizeof *maker.valid, err);
    if (!order->group || !order->all_data_ranks || !maker.list || !maker.valid)
        return false;
    for (uint32_t o = 0; o < job->op_count; o++)
        order->group[o] = maker.valid[o] = JOB_NONE;
    for (uint32_t s = 0; s < job->stages; s++)
        if (!order_stage(&maker, s, err))
            return false;
    if (!pair_transfers(&maker, err))
        return false;
    group_rest(&maker);
    return make_graph(&maker, err);
}
