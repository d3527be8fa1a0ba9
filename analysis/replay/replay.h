// SPDX-License-Identifier: Apache-2.0
// Work with dependencies, replayed: each node starts as soon as all that it depends on has ended.
// It knows nothing of traces; times are in any unit.
#ifndef ANALYSIS_REPLAY_H
#define ANALYSIS_REPLAY_H

#include "ingest/base/arena.h"

#include <stddef.h>

#define REPLAY_NONE UINT32_MAX

// Scenarios that replay_run_lanes replays at once.
enum { REPLAY_LANES = 8 };

#define REPLAY_UNBOUND INT64_MAX

struct replay_nodes {
    const uint32_t *at;
    uint32_t count;
};

// `to` starts at the earliest `lag` after the end of `from`.
struct replay_edge {
    uint32_t from, to;
    int32_t lag;
};

// Set in `first`: the node's first edge is from the node before it, without a lag, and not listed.
#define REPLAY_FOLLOWS 0x80000000u

// The edges by the node they lead to. Most nodes of a thread just follow the one before.
struct replay_graph {
    uint32_t node_count, edge_count; // of all edges
    uint32_t *first;                 // node_count + 1: where the listed edges of each node begin
    uint32_t *from;                  // of listed ones
    int32_t *lag;
    uint32_t *order; // topological; NULL if the nodes are numbered like that
};

static inline bool replay_follows(const struct replay_graph *graph, uint32_t node)
{
    return graph->first[node] & REPLAY_FOLLOWS;
}

// Where the listed edges of a node begin, of node + 1: end.
static inline uint32_t replay_first(const struct replay_graph *graph, uint32_t node)
{
    return graph->first[node] & ~REPLAY_FOLLOWS;
}

// How many edges lead to a node, and the k-th of them.
static inline uint32_t replay_edges_to(const struct replay_graph *graph, uint32_t node)
{
    return replay_first(graph, node + 1) - replay_first(graph, node) + replay_follows(graph, node);
}

static inline struct replay_edge replay_edge_to(const struct replay_graph *graph, uint32_t node,
                                                uint32_t k)
{
    bool follows = replay_follows(graph, node);
    if (follows && k == 0)
        return (struct replay_edge){node - 1, node, 0};
    uint32_t e = replay_first(graph, node) + k - follows;
    return (struct replay_edge){graph->from[e], node, graph->lag[e]};
}

// Arrays live in arena; the edges may be in any order and stay the caller's. ERR_FORMAT if the
// edges form a cycle. O(nodes + edges). Fastest to replay if every edge leads to a higher number.
MUST_CHECK bool replay_graph_make(const struct replay_edge *edges, size_t edge_count,
                                  uint32_t node_count, struct arena *arena,
                                  struct replay_graph *graph, struct err *err);

// Whether no sum of these durations and the lags can overflow. ERR_LIMIT if one could.
MUST_CHECK bool replay_fits(const struct replay_graph *graph, const int64_t *dur, struct err *err);

// Fills the end of each node; nodes without an edge to them start at 0. Returns the latest end, at
// least 0. O(nodes + edges), like the others.
int64_t replay_run(const struct replay_graph *graph, const int64_t *dur, int64_t *end);

// REPLAY_LANES scenarios at once: durations and ends of a node are side by side.
void replay_run_lanes(const struct replay_graph *graph, const int64_t *dur, int64_t *end,
                      int64_t last[REPLAY_LANES]);

// By how much each node could take longer without a later end than `last`.
void replay_slack(const struct replay_graph *graph, const int64_t *dur, const int64_t *end,
                  int64_t last, int64_t *slack);

// By how much each node could take longer without a later end of any of these nodes;
// REPLAY_UNBOUND where none of them waits for it.
void replay_slack_to(const struct replay_graph *graph, const int64_t *dur, const int64_t *end,
                     const struct replay_nodes *targets, int64_t *slack);

// A node of the critical path, and which of its edges held it up (REPLAY_NONE for the first node).
struct replay_hop {
    uint32_t node, edge;
};

// Which edge held a node up: the first of those that allowed it latest. REPLAY_NONE without any.
uint32_t replay_holding_edge(const struct replay_graph *graph, const int64_t *end, uint32_t node);

// Fills hops (room for node_count) in the order of time and returns their count. Their durations
// and lags sum to the latest end. Of equally late edges the first one counts.
uint32_t replay_path(const struct replay_graph *graph, const int64_t *end, struct replay_hop *hops);

#endif
