// SPDX-License-Identifier: Apache-2.0
// What one rank did as a graph: the work of its threads and of its devices, and what waited for
// what.
#ifndef ANALYSIS_RANK_GRAPH_H
#define ANALYSIS_RANK_GRAPH_H

#include "analysis/facts/facts.h"
#include "analysis/replay/replay.h"

// A wait is an edge, never a node.
enum work_kind {
    WORK_DEVICE,     // a device event
    WORK_HOST,       // what a thread does before a call
    WORK_CALL,       // a call that launches or synchronizes, without the time it waited
    WORK_UNRECORDED, // before a device event: its device is busy with work that was not recorded
    WORK_LEAD,       // from the start of the recording to what is not known to wait for anything
};

struct work_node {
    uint32_t event;      // index into facts.devices; of a thread, of its call into the columns
    uint32_t track : 29; // its thread or stream
    uint32_t kind : 3;   // enum work_kind
};

// The moment a step starts or ends at: `after_ns` after the end of a node, or after its start.
struct work_border {
    uint32_t node; // REPLAY_NONE: the start of the recording
    bool at_start;
    int64_t after_ns;
};

struct work_step {
    uint32_t step; // index into facts.steps
    struct work_border begin, end;
};

// Device event i is node i. The calls follow, each with two nodes: what its thread did before it,
// and itself; then all others.
struct rank_graph {
    struct replay_graph graph;
    uint32_t *calls; // events
    uint32_t *leads; // calls before which their thread waited for nothing known, ascending
    uint32_t call_count, lead_count;
    struct work_node *others;
    int64_t *dur;            // per node, ns
    int64_t begin_ns;        // the start of the replay, as recorded
    struct work_step *steps; // the steady ones
    uint32_t step_count;
    int64_t device_ns,
        known_ns;           // durations of the device events; of those whose start is explained
    uint32_t violated;      // edges that the recording contradicts: clocks disagree
    int64_t unexplained_ns; // time for which nothing known held a device event up
};

// Arrays live in arena, those of graph->graph in edges, which may be the same. ERR_FORMAT if the
// recording contradicts itself. O(n log n)
MUST_CHECK bool rank_graph_make(const struct facts *facts, struct arena *arena, struct arena *edges,
                                struct rank_graph *graph, struct err *err);

// What a node is, and its kind alone.
struct work_node rank_graph_node(const struct facts *facts, const struct rank_graph *graph,
                                 uint32_t node);
enum work_kind rank_graph_kind(const struct facts *facts, const struct rank_graph *graph,
                               uint32_t node);

// Whether it is a thread's.
static inline bool work_is_host(enum work_kind kind)
{
    return kind == WORK_HOST || kind == WORK_CALL;
}

// When a node began, as recorded.
int64_t rank_graph_begin(const struct facts *facts, const struct rank_graph *graph, uint32_t node);

// A border in a replay with these times and ends of the nodes.
int64_t rank_graph_at(const struct work_border *border, const int64_t *dur, const int64_t *end);

#endif
