// SPDX-License-Identifier: Apache-2.0
// Clocks compared in groups: the offsets that agree best with all comparisons.
#ifndef ANALYSIS_CLOCK_GRAPH_H
#define ANALYSIS_CLOCK_GRAPH_H

#include "ingest/base/arena.h"

// In a group (hub) that clock's offset is offset_ns, up to a constant common to the group.
struct clock_edge {
    uint32_t clock, hub;
    double offset_ns;
    double weight; // inverse of the variance
};

struct clock_graph {
    struct clock_edge *edges; // in any order
    uint32_t clock_count, hub_count, edge_count;
    double *offset_ns;        // result per clock, 0 for the lowest clock of a component
    uint32_t *component;      // result per clock, numbered from 0 by lowest clock
    uint32_t component_count; // result
};

// Fills the results, whose arrays the caller provides. Weighted least squares by conjugate
// gradients; edges that disagree are repeatedly weighted down (Huber). Scratch is linear.
MUST_CHECK bool clock_graph_solve(struct clock_graph *graph, struct arena *scratch,
                                  struct err *err);

#endif
