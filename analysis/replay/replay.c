// SPDX-License-Identifier: Apache-2.0
// Earliest starts are longest paths: one pass over the nodes in topological order.
#include "analysis/replay/replay.h"

#include <assert.h>
#include <string.h>

// --- the graph ----------------------------------------------------------------------------------

// While edges are placed: the edge that is not listed was met.
#define MET        0x40000000u
#define MOST_EDGES (MET - 1)

static bool is_plain(const struct replay_edge *edge)
{
    return edge->to == edge->from + 1 && edge->lag == 0;
}

// Counts the listed edges of each node, and sets `first`. Returns their sum.
static uint32_t count_edges(const struct replay_edge *edges, size_t count,
                            struct replay_graph *graph)
{
    uint32_t *first = graph->first, sum = 0;
    for (size_t e = 0; e < count; e++) {
        uint32_t *of = &first[edges[e].to + 1];
        *of = *of == 0 && is_plain(&edges[e]) ? REPLAY_FOLLOWS : *of + 1;
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        uint32_t of = first[n + 1];
        first[n] = sum | (of & REPLAY_FOLLOWS);
        sum += of & ~REPLAY_FOLLOWS;
    }
    first[graph->node_count] = sum;
    return sum;
}

// Places the edges by the node they lead to (a counting sort, stable).
static void place_edges(const struct replay_edge *edges, size_t count, struct replay_graph *graph)
{
    uint32_t *first = graph->first;
    for (size_t e = 0; e < count; e++) {
        uint32_t *next = &first[edges[e].to];
        if ((*next & (REPLAY_FOLLOWS | MET)) == REPLAY_FOLLOWS) {
            *next |= MET; // it is the first
            continue;
        }
        uint32_t at = (*next)++ & MOST_EDGES;
        graph->from[at] = edges[e].from;
        graph->lag[at] = edges[e].lag;
    }
    for (uint32_t n = graph->node_count; n-- > 0;)
        first[n] = (first[n] & REPLAY_FOLLOWS) | (n ? first[n - 1] & MOST_EDGES : 0);
}

static bool is_ordered(const struct replay_edge *edges, size_t count)
{
    for (size_t e = 0; e < count; e++)
        if (edges[e].from >= edges[e].to)
            return false;
    return true;
}

// What follows each node, while the order is made.
struct followers {
    uint32_t *first, *to; // of node n: to[first[n]] .. to[first[n + 1] - 1]
    uint32_t *open;       // per node, edges to it from nodes that are not in the order yet
};

static bool make_followers(const struct replay_graph *graph, struct arena *arena,
                           struct followers *followers, struct err *err)
{
    uint32_t nodes = graph->node_count;
    followers->first = arena_array(arena, (size_t)nodes + 2, sizeof *followers->first, err);
    followers->to = arena_room(arena, (size_t)graph->edge_count + 1, sizeof *followers->to, err);
    followers->open = arena_room(arena, (size_t)nodes + 1, sizeof *followers->open, err);
    if (!followers->first || !followers->to || !followers->open)
        return false;
    uint32_t *next = followers->first + 1; // ends as the first of the next node
    for (uint32_t e = 0; e < graph->first[nodes]; e++)
        next[graph->from[e] + 1]++;
    for (uint32_t n = 0; n < nodes; n++)
        next[n] += replay_follows(graph, n); // of the node before
    for (uint32_t n = 0; n < nodes; n++)
        next[n + 1] += next[n];
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t edges = followers->open[n] = replay_edges_to(graph, n);
        for (uint32_t k = 0; k < edges; k++)
            followers->to[next[replay_edge_to(graph, n, k).from]++] = n;
    }
    return true;
}

// Appends the node's followers that wait for nothing else.
static uint32_t release(struct followers *followers, uint32_t node, uint32_t *order, uint32_t count)
{
    for (uint32_t f = followers->first[node]; f < followers->first[node + 1]; f++)
        if (--followers->open[followers->to[f]] == 0)
            order[count++] = followers->to[f];
    return count;
}

static bool find_order(struct replay_graph *graph, struct budget *budget, struct err *err)
{
    struct arena scratch;
    struct followers followers;
    arena_init(&scratch, budget);
    bool ok = make_followers(graph, &scratch, &followers, err);
    uint32_t count = 0;
    for (uint32_t n = 0; ok && n < graph->node_count; n++)
        if (followers.open[n] == 0)
            graph->order[count++] = n;
    for (uint32_t at = 0; ok && at < count; at++)
        count = release(&followers, graph->order[at], graph->order, count);
    arena_free(&scratch);
    if (ok && count < graph->node_count)
        return err_set(err, ERR_FORMAT, "%u of %u nodes wait for each other in a cycle",
                       graph->node_count - count, graph->node_count);
    return ok;
}

bool replay_graph_make(const struct replay_edge *edges, size_t edge_count, uint32_t node_count,
                       struct arena *arena, struct replay_graph *graph, struct err *err)
{
    if (node_count == UINT32_MAX || edge_count > MOST_EDGES)
        return err_set(err, ERR_LIMIT, "a graph of %zu edges is too large to replay", edge_count);
    *graph = (struct replay_graph){.node_count = node_count, .edge_count = (uint32_t)edge_count};
    graph->first = arena_array(arena, (size_t)node_count + 1, sizeof *graph->first, err);
    if (!graph->first)
        return false;
    for (size_t e = 0; e < edge_count; e++)
        assert(edges[e].from < node_count && edges[e].to < node_count);
    size_t listed = count_edges(edges, edge_count, graph);
    graph->from = arena_room(arena, listed + 1, sizeof *graph->from, err);
    graph->lag = arena_room(arena, listed + 1, sizeof *graph->lag, err);
    if (!graph->from || !graph->lag)
        return false;
    place_edges(edges, edge_count, graph);
    if (is_ordered(edges, edge_count))
        return true;
    graph->order = arena_room(arena, node_count, sizeof *graph->order, err);
    return graph->order && find_order(graph, arena->budget, err);
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

bool replay_fits(const struct replay_graph *graph, const int64_t *dur, struct err *err)
{
    const uint64_t most = INT64_MAX / 4;
    uint64_t sum = 0;
    for (uint32_t n = 0; n < graph->node_count && sum <= most; n++)
        sum += magnitude(dur[n]) > most ? most + 1 : magnitude(dur[n]);
    for (uint32_t e = 0; e < graph->first[graph->node_count] && sum <= most; e++)
        sum += magnitude(graph->lag[e]);
    return sum <= most || err_set(err, ERR_LIMIT, "times too long to replay");
}

// --- replay -------------------------------------------------------------------------------------

static inline uint32_t node_at(const struct replay_graph *graph, uint32_t at)
{
    return graph->order ? graph->order[at] : at;
}

static inline int64_t start_of(const struct replay_graph *graph, const int64_t *end, uint32_t node)
{
    uint32_t e = replay_first(graph, node), stop = replay_first(graph, node + 1);
    int64_t start = 0;
    if (replay_follows(graph, node))
        start = end[node - 1];
    else if (e < stop) {
        start = end[graph->from[e]] + graph->lag[e];
        e++;
    }
    for (; e < stop; e++) {
        int64_t ready = end[graph->from[e]] + graph->lag[e];
        start = ready > start ? ready : start;
    }
    return start;
}

int64_t replay_run(const struct replay_graph *graph, const int64_t *dur, int64_t *end)
{
    int64_t last = 0;
    for (uint32_t at = 0; at < graph->node_count; at++) {
        uint32_t node = node_at(graph, at);
        end[node] = start_of(graph, end, node) + dur[node];
        last = end[node] > last ? end[node] : last;
    }
    return last;
}

static inline void start_lanes(const struct replay_graph *graph, const int64_t *end, uint32_t node,
                               int64_t start[REPLAY_LANES])
{
    uint32_t first = replay_first(graph, node), stop = replay_first(graph, node + 1);
    if (replay_follows(graph, node))
        memcpy(start, &end[((size_t)node - 1) * REPLAY_LANES], REPLAY_LANES * sizeof *start);
    else
        for (int k = 0; k < REPLAY_LANES; k++)
            start[k] = first == stop ? 0 : INT64_MIN;
    for (uint32_t e = first; e < stop; e++) {
        const int64_t *ready = &end[(size_t)graph->from[e] * REPLAY_LANES];
        int64_t lag = graph->lag[e];
        for (int k = 0; k < REPLAY_LANES; k++)
            start[k] = ready[k] + lag > start[k] ? ready[k] + lag : start[k];
    }
}

void replay_run_lanes(const struct replay_graph *graph, const int64_t *dur, int64_t *end,
                      int64_t last[REPLAY_LANES])
{
    int64_t latest[REPLAY_LANES] = {0}, start[REPLAY_LANES];
    for (uint32_t at = 0; at < graph->node_count; at++) {
        uint32_t node = node_at(graph, at);
        start_lanes(graph, end, node, start);
        int64_t *ends = &end[(size_t)node * REPLAY_LANES];
        for (int k = 0; k < REPLAY_LANES; k++) {
            ends[k] = start[k] + dur[(size_t)node * REPLAY_LANES + k];
            latest[k] = ends[k] > latest[k] ? ends[k] : latest[k];
        }
    }
    memcpy(last, latest, sizeof latest);
}

// --- slack and the critical path ----------------------------------------------------------------

// From the latest end that a node may have to that of all it waits for.
static void hand_back(const struct replay_graph *graph, const int64_t *dur, uint32_t node,
                      int64_t *latest_ends)
{
    int64_t start = latest_ends[node] - dur[node];
    if (replay_follows(graph, node) && start < latest_ends[node - 1])
        latest_ends[node - 1] = start;
    for (uint32_t e = replay_first(graph, node); e < replay_first(graph, node + 1); e++) {
        int64_t *latest = &latest_ends[graph->from[e]];
        *latest = start - graph->lag[e] < *latest ? start - graph->lag[e] : *latest;
    }
}

void replay_slack(const struct replay_graph *graph, const int64_t *dur, const int64_t *end,
                  int64_t last, int64_t *slack)
{
    // First the latest end that each node may have.
    for (uint32_t n = 0; n < graph->node_count; n++)
        slack[n] = last;
    for (uint32_t at = graph->node_count; at-- > 0;)
        hand_back(graph, dur, node_at(graph, at), slack);
    for (uint32_t n = 0; n < graph->node_count; n++)
        slack[n] -= end[n];
}

void replay_slack_to(const struct replay_graph *graph, const int64_t *dur, const int64_t *end,
                     const struct replay_nodes *targets, int64_t *slack)
{
    for (uint32_t n = 0; n < graph->node_count; n++)
        slack[n] = REPLAY_UNBOUND;
    for (uint32_t t = 0; t < targets->count; t++)
        slack[targets->at[t]] = end[targets->at[t]];
    for (uint32_t at = graph->node_count; at-- > 0;)
        if (slack[node_at(graph, at)] != REPLAY_UNBOUND)
            hand_back(graph, dur, node_at(graph, at), slack);
    for (uint32_t n = 0; n < graph->node_count; n++)
        slack[n] -= slack[n] == REPLAY_UNBOUND ? 0 : end[n];
}

uint32_t replay_holding_edge(const struct replay_graph *graph, const int64_t *end, uint32_t node)
{
    int64_t start = start_of(graph, end, node);
    uint32_t edges = replay_edges_to(graph, node);
    for (uint32_t k = 0; k < edges; k++) {
        struct replay_edge edge = replay_edge_to(graph, node, k);
        if (end[edge.from] + edge.lag == start)
            return k;
    }
    return REPLAY_NONE;
}

uint32_t replay_path(const struct replay_graph *graph, const int64_t *end, struct replay_hop *hops)
{
    if (graph->node_count == 0)
        return 0;
    uint32_t node = 0, count = 0;
    for (uint32_t n = 1; n < graph->node_count; n++)
        node = end[n] > end[node] ? n : node;
    while (node != REPLAY_NONE) {
        uint32_t edge = replay_holding_edge(graph, end, node);
        hops[count++] = (struct replay_hop){node, edge};
        node = edge == REPLAY_NONE ? REPLAY_NONE : replay_edge_to(graph, node, edge).from;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        struct replay_hop hop = hops[i];
        hops[i] = hops[count - 1 - i];
        hops[count - 1 - i] = hop;
    }
    return count;
}
