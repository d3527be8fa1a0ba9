// SPDX-License-Identifier: Apache-2.0
// Leaves out what other streams and threads wait for, and adds when it is due.
#include "analysis/replay/overlap.h"

enum { MOST_BACK = 256 };

bool overlap_open(struct overlap *overlap, uint32_t node_count, struct arena *arena,
                  struct err *err)
{
    size_t room = (size_t)node_count + 1;
    *overlap = (struct overlap){arena_room(arena, room, sizeof(uint32_t), err),
                                arena_room(arena, room, sizeof(uint32_t), err),
                                arena_room(arena, room, sizeof(uint32_t), err),
                                arena_array(arena, room, sizeof(bool), err), 0};
    if (!overlap->lane || !overlap->due || !overlap->stand_in || !overlap->loose)
        return false;
    for (uint32_t n = 0; n < node_count; n++) {
        overlap->lane[n] = OVERLAP_NOWHERE;
        overlap->due[n] = overlap->stand_in[n] = REPLAY_NONE;
    }
    return true;
}

// The last other work to begin before this ended and to end before it did.
static uint32_t stand_in_of(const struct facts *facts, const bool *loose, uint32_t device)
{
    int64_t end_ns = facts->devices[device].end_ns;
    uint32_t begun = facts_devices_before(facts, end_ns);
    for (uint32_t back = 0; begun > 0 && back < MOST_BACK; back++, begun--)
        if (!loose[begun - 1] && facts->devices[begun - 1].end_ns <= end_ns)
            return begun - 1;
    return FACTS_NONE;
}

// The first work on the main stream after the step that follows this one.
static uint32_t due_of(const struct facts *facts, const bool *loose, uint32_t device)
{
    uint32_t step = facts->devices[device].step;
    if (step == FACTS_NONE || step + 1 >= facts->step_count)
        return FACTS_NONE;
    uint32_t at = facts_devices_before(facts, facts->steps[step + 1].end_ns);
    for (uint32_t on = 0; at < facts->device_count && on < MOST_BACK; on++, at++)
        if (!loose[at] && facts->devices[at].track == facts->main_track)
            return at;
    return FACTS_NONE;
}

bool overlap_add(struct overlap *overlap, const struct change_list *list, const struct facts *facts,
                 const struct rank_graph *rank, uint32_t first, struct err *err)
{
    bool *loose = overlap->loose + first;
    for (uint32_t n = 0; n < rank->graph.node_count; n++) {
        const struct work_node node = rank_graph_node(facts, rank, n);
        bool is_thread = work_is_host(node.kind);
        overlap->lane[first + n] = is_thread ? OVERLAP_THREAD : overlap->lane_count + node.track;
    }
    overlap->lane_count += facts->trace->track_count;
    if (!change_overlapped(list, facts, rank, loose, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        uint32_t due = loose[d] ? due_of(facts, loose, d) : FACTS_NONE;
        uint32_t stand_in = loose[d] ? stand_in_of(facts, loose, d) : FACTS_NONE;
        overlap->due[first + d] = due == FACTS_NONE ? REPLAY_NONE : first + due;
        overlap->stand_in[first + d] = stand_in == FACTS_NONE ? REPLAY_NONE : first + stand_in;
    }
    return true;
}

// While the edges of the new graph are listed.
struct listing {
    const struct overlap *overlap;
    const struct replay_graph *graph;
    struct replay_edge *edges;
    size_t count;
};

static bool is_kept(const struct overlap *overlap, uint32_t from, uint32_t to)
{
    return !overlap->loose[from] || overlap->lane[from] == overlap->lane[to];
}

static void list_edge(struct listing *listing, struct replay_edge edge)
{
    const struct overlap *overlap = listing->overlap;
    if (!is_kept(overlap, edge.from, edge.to)) // a stream has its own order without it
        edge.from =
            overlap->lane[edge.to] == OVERLAP_THREAD ? overlap->stand_in[edge.from] : REPLAY_NONE;
    if (edge.from != REPLAY_NONE)
        listing->edges[listing->count++] = edge;
}

// Nothing may start without a reason: what waits for nothing else keeps waiting.
static void list_node(struct listing *listing, uint32_t node)
{
    const struct replay_graph *graph = listing->graph;
    size_t before = listing->count;
    uint32_t edges = replay_edges_to(graph, node);
    for (uint32_t k = 0; k < edges; k++)
        list_edge(listing, replay_edge_to(graph, node, k));
    bool none = listing->count == before;
    for (uint32_t k = 0; none && k < edges; k++)
        listing->edges[listing->count++] = replay_edge_to(graph, node, k);
}

bool overlap_make(const struct overlap *overlap, const struct replay_graph *graph,
                  struct arena *arena, struct replay_graph *made, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, arena->budget);
    struct listing listing = {overlap, graph, NULL, 0};
    size_t most = (size_t)graph->edge_count + graph->node_count + 1;
    listing.edges = arena_room(&scratch, most, sizeof *listing.edges, err);
    bool ok = listing.edges != NULL;
    for (uint32_t n = 0; ok && n < graph->node_count; n++)
        list_node(&listing, n);
    for (uint32_t n = 0; ok && n < graph->node_count; n++)
        if (overlap->loose[n] && overlap->due[n] != REPLAY_NONE)
            listing.edges[listing.count++] = (struct replay_edge){n, overlap->due[n], 0};
    ok = ok && replay_graph_make(listing.edges, listing.count, graph->node_count, arena, made, err);
    arena_free(&scratch);
    return ok;
}
