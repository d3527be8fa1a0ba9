// SPDX-License-Identifier: Apache-2.0
// A graph in which some work is overlapped fully: only its own stream waits for it, and at the
// latest the second step after its own.
#ifndef ANALYSIS_OVERLAP_H
#define ANALYSIS_OVERLAP_H

#include "analysis/replay/change.h"

// What is known of each node of the graph.
struct overlap {
    uint32_t *lane;     // its stream, or OVERLAP_THREAD; else OVERLAP_NOWHERE
    uint32_t *due;      // what waits for it in the end, or REPLAY_NONE
    uint32_t *stand_in; // what a thread waits for instead, or REPLAY_NONE
    bool *loose;        // it is overlapped
    uint32_t lane_count;
};

#define OVERLAP_NOWHERE UINT32_MAX
#define OVERLAP_THREAD  (UINT32_MAX - 1)

// Prepares the view of a graph of that many nodes, none of them overlapped.
MUST_CHECK bool overlap_open(struct overlap *overlap, uint32_t node_count, struct arena *arena,
                             struct err *err);

// Adds a rank whose nodes are those of the graph from `first` on, with what these changes overlap.
MUST_CHECK bool overlap_add(struct overlap *overlap, const struct change_list *list,
                            const struct facts *facts, const struct rank_graph *rank,
                            uint32_t first, struct err *err);

// Makes the graph without those waits. Its arrays live in arena.
MUST_CHECK bool overlap_make(const struct overlap *overlap, const struct replay_graph *graph,
                             struct arena *arena, struct replay_graph *made, struct err *err);

#endif
