// SPDX-License-Identifier: Apache-2.0
// Numbers are LEB128, signed ones in zigzag. Nodes get new numbers, in the order of the replay, so
// that what each waits for comes a little before it.
#include "analysis/replay/replay_pack.h"

#include <math.h>

#define MILLION 1e6

static void put(struct buf *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    buf_add(out, bytes, count);
}

static void put_signed(struct buf *out, int64_t value)
{
    put(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

struct packing {
    const struct replay_pack *pack;
    struct replay_view view;
    uint32_t *masks;  // per node: the controls that scale it
    uint32_t *placed; // per node: its new number
    uint32_t waits;   // bits: what shortens waits for absent ranks, the changes, then each control
    struct buf *out;
};

// --- what controls scale ------------------------------------------------------------------------

static bool mark_control(struct packing *packing, const struct replay_view *recorded,
                         uint32_t control, struct arena *arena, struct err *err)
{
    const struct replay_pack *pack = packing->pack;
    struct replay_view removed;
    if (!whatif_job_view(pack->job, &pack->controls[control], arena, &removed, err))
        return false;
    for (uint32_t n = 0; n < recorded->graph.node_count; n++)
        if (removed.dur[n] != recorded->dur[n])
            packing->masks[n] |= 1u << control;
    if (whatif_job_hides_waits(pack->job, &pack->controls[control], removed.dur))
        packing->waits |= 2u << control;
    return true;
}

static bool mark_controls(struct packing *packing, struct arena *arena, struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    struct replay_view recorded;
    if (!whatif_job_view(packing->pack->job, &nothing, arena, &recorded, err))
        return false;
    for (uint32_t i = 0; i < packing->pack->control_count; i++) {
        struct arena scratch;
        arena_init(&scratch, arena->budget);
        bool ok = mark_control(packing, &recorded, i, &scratch, err);
        arena_free(&scratch);
        if (!ok)
            return false;
    }
    return true;
}

// --- bytes --------------------------------------------------------------------------------------

// Where a step of the rank starts or ends: the node plus one, 0 for the start of the recording.
static void put_border(const struct packing *packing, const struct work_border *border)
{
    const struct whatif_job *job = packing->pack->job;
    uint32_t rank = packing->pack->rank;
    uint32_t first = job->count > 1 ? job->joined[rank].first : 0;
    int64_t origin_ns = job->count > 1 ? job->replay.origin_ns[rank] : 0;
    bool is_start = border->node == REPLAY_NONE;
    put(packing->out, is_start ? 0 : packing->placed[first + border->node] + 1);
    put(packing->out, border->at_start);
    put_signed(packing->out, border->after_ns + (is_start ? origin_ns : 0));
}

static void put_steps(const struct packing *packing)
{
    const struct whatif_job *job = packing->pack->job;
    const struct whatif *whatif = &job->ranks[packing->pack->rank]->whatif;
    const int64_t *base_ns = whatif->base_ns;
    if (job->count > 1)
        base_ns = job->replay.base_ns + job->joined[packing->pack->rank].first_step;
    for (uint32_t s = 0; s < whatif->graph.step_count; s++) {
        const struct work_step *borders = &whatif->graph.steps[s];
        const struct step *step = &whatif->facts->steps[borders->step];
        put_signed(packing->out, step->end_ns - step->begin_ns);
        put_signed(packing->out, base_ns[s]);
        put_border(packing, &borders->begin);
        put_border(packing, &borders->end);
    }
}

static void put_node(const struct packing *packing, uint32_t node)
{
    const struct replay_graph *graph = &packing->view.graph;
    put_signed(packing->out, packing->view.dur[node]);
    put(packing->out, packing->masks[node]);
    uint32_t edges = replay_edges_to(graph, node);
    put(packing->out, edges);
    for (uint32_t k = 0; k < edges; k++) {
        struct replay_edge edge = replay_edge_to(graph, node, k);
        put(packing->out, packing->placed[node] - packing->placed[edge.from]);
        put_signed(packing->out, edge.lag);
    }
}

static void put_all(const struct packing *packing)
{
    const struct replay_pack *pack = packing->pack;
    const struct replay_graph *graph = &packing->view.graph;
    const struct whatif_answer *base = pack->base;
    double error_share = fmax(base->error_share, WHATIF_LEAST_ERROR);
    uint32_t steps = base->step_count;
    put(packing->out, REPLAY_PACK_VERSION);
    put(packing->out, graph->node_count);
    put(packing->out, graph->edge_count);
    put(packing->out, steps);
    put(packing->out, (uint64_t)llround(error_share * base->measured_ns));
    put(packing->out, (uint64_t)llround(MILLION * whatif_doubt(pack->list)));
    put(packing->out, steps > 1 ? (uint64_t)llround(MILLION * whatif_spread(steps)) : 0);
    put(packing->out, packing->waits);
    put_steps(packing);
    for (uint32_t i = 0; i < graph->node_count; i++)
        put_node(packing, graph->order ? graph->order[i] : i);
}

bool replay_pack_write(const struct replay_pack *pack, struct arena *arena, struct buf *out,
                       struct err *err)
{
    struct packing packing = {.pack = pack, .out = out};
    if (!whatif_job_view(pack->job, pack->list, arena, &packing.view, err))
        return false;
    const struct replay_graph *graph = &packing.view.graph;
    if (graph->node_count > REPLAY_PACK_NODES)
        return err_set(err, ERR_LIMIT, "found a graph of %u nodes, expected at most %d",
                       graph->node_count, REPLAY_PACK_NODES);
    packing.masks = arena_array(arena, (size_t)graph->node_count + 1, sizeof(uint32_t), err);
    packing.placed = arena_room(arena, (size_t)graph->node_count + 1, sizeof(uint32_t), err);
    if (!packing.masks || !packing.placed || !mark_controls(&packing, arena, err))
        return false;
    packing.waits |= whatif_job_hides_waits(pack->job, pack->list, packing.view.dur);
    for (uint32_t i = 0; i < graph->node_count; i++)
        packing.placed[graph->order ? graph->order[i] : i] = i;
    put_all(&packing);
    return buf_ok(out, err);
}
