// SPDX-License-Identifier: Apache-2.0
// Offsets first along a spanning tree, then corrected until all comparisons agree as well as
// possible.
#include "analysis/stats/clock_graph.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define NONE       UINT32_MAX
#define ROUNDS     8    // of weighting
#define STEPS      400  // of conjugate gradients at most
#define PRECISE_NS 0.1  // smaller corrections are noise
#define SCALE_NS   1000 // minimum spread for judging edges
#define HUBER      1.345

// Nodes are the clocks and then the hubs.
struct solver {
    struct clock_graph *graph;
    uint32_t node_count;
    uint32_t *first, *incident;                     // edges of each node
    double *value;                                  // offset of each node
    double *weight, *residual;                      // of each edge
    double *spread;                                 // room for edges
    double *force, *way, *pull, *diagonal, *change; // of each node
};

static bool make_solver(struct solver *solver, struct arena *scratch, struct err *err)
{
    const struct clock_graph *graph = solver->graph;
    uint32_t nodes = graph->clock_count + graph->hub_count, edges = graph->edge_count;
    solver->node_count = nodes;
    solver->first = arena_array(scratch, (size_t)nodes + 2, sizeof *solver->first, err);
    solver->incident = arena_array(scratch, 2 * (size_t)edges, sizeof *solver->incident, err);
    double *of_edges = arena_array(scratch, 3 * (size_t)edges, sizeof *of_edges, err);
    double *of_nodes = arena_array(scratch, 6 * (size_t)nodes, sizeof *of_nodes, err);
    if (!solver->first || !solver->incident || !of_edges || !of_nodes)
        return false;
    solver->weight = of_edges;
    solver->residual = of_edges + edges;
    solver->spread = of_edges + 2 * (size_t)edges;
    double **arrays[] = {&solver->value, &solver->force,    &solver->way,
                         &solver->pull,  &solver->diagonal, &solver->change};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = of_nodes + i * nodes;
    return true;
}

static uint32_t hub_of(const struct solver *solver, const struct clock_edge *edge)
{
    return solver->graph->clock_count + edge->hub;
}

static void list_edges(struct solver *solver)
{
    const struct clock_graph *graph = solver->graph;
    uint32_t *first = solver->first;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        first[graph->edges[e].clock + 2]++;
        first[hub_of(solver, &graph->edges[e]) + 2]++;
    }
    for (uint32_t n = 0; n < solver->node_count; n++)
        first[n + 2] += first[n + 1];
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        solver->incident[first[graph->edges[e].clock + 1]++] = e;
        solver->incident[first[hub_of(solver, &graph->edges[e]) + 1]++] = e;
    }
}

// Visits the neighbors of a node that have not been seen; each edge leads to the node at its other
// end.
static void visit(struct solver *solver, uint32_t node, uint32_t *seen, uint32_t *queue,
                  uint32_t *tail)
{
    for (uint32_t i = solver->first[node]; i < solver->first[node + 1]; i++) {
        const struct clock_edge *edge = &solver->graph->edges[solver->incident[i]];
        uint32_t hub = hub_of(solver, edge);
        uint32_t other = node == hub ? edge->clock : hub;
        if (seen[other])
            continue;
        seen[other] = seen[node];
        solver->value[other] =
            solver->value[node] + (node == hub ? edge->offset_ns : -edge->offset_ns);
        queue[(*tail)++] = other;
    }
}

// Walks through each component, starting at its lowest clock.
static bool span(struct solver *solver, struct arena *scratch, struct err *err)
{
    struct clock_graph *graph = solver->graph;
    uint32_t *queue = arena_array(scratch, solver->node_count, sizeof *queue, err);
    uint32_t *seen = arena_array(scratch, solver->node_count, sizeof *seen, err);
    if (!queue || !seen)
        return false;
    graph->component_count = 0;
    for (uint32_t clock = 0; clock < graph->clock_count; clock++) {
        uint32_t head = 0, tail = 0;
        if (seen[clock])
            continue;
        seen[clock] = ++graph->component_count;
        queue[tail++] = clock;
        while (head < tail)
            visit(solver, queue[head++], seen, queue, &tail);
    }
    for (uint32_t clock = 0; clock < graph->clock_count; clock++)
        graph->component[clock] = seen[clock] - 1;
    return true;
}

static void find_residuals(struct solver *solver)
{
    const struct clock_graph *graph = solver->graph;
    for (uint32_t e = 0; e < graph->edge_count; e++) {
        const struct clock_edge *edge = &graph->edges[e];
        solver->residual[e] =
            edge->offset_ns - (solver->value[edge->clock] - solver->value[hub_of(solver, edge)]);
    }
}

static void weigh(struct solver *solver, bool first)
{
    const struct clock_graph *graph = solver->graph;
    uint32_t count = graph->edge_count;
    for (uint32_t e = 0; e < count; e++)
        solver->spread[e] = fabs(solver->residual[e]);
    qsort(solver->spread, count, sizeof *solver->spread, order_doubles);
    double limit_ns = HUBER * fmax(SCALE_NS, 1.4826 * solver->spread[count / 2]);
    for (uint32_t e = 0; e < count; e++) {
        double apart_ns = fabs(solver->residual[e]);
        bool far = !first && apart_ns > limit_ns;
        solver->weight[e] = graph->edges[e].weight * (far ? limit_ns / apart_ns : 1);
    }
}

// out = matrix x in, the matrix being the weighted Laplacian of the graph.
static void multiply(const struct solver *solver, const double *in, double *out)
{
    memset(out, 0, solver->node_count * sizeof *out);
    for (uint32_t e = 0; e < solver->graph->edge_count; e++) {
        const struct clock_edge *edge = &solver->graph->edges[e];
        uint32_t hub = hub_of(solver, edge);
        double flow = solver->weight[e] * (in[edge->clock] - in[hub]);
        out[edge->clock] += flow;
        out[hub] -= flow;
    }
}

static void begin_correction(struct solver *solver)
{
    size_t size = solver->node_count * sizeof(double);
    memset(solver->force, 0, size);
    memset(solver->diagonal, 0, size);
    memset(solver->change, 0, size);
    for (uint32_t e = 0; e < solver->graph->edge_count; e++) {
        const struct clock_edge *edge = &solver->graph->edges[e];
        uint32_t hub = hub_of(solver, edge);
        double force = solver->weight[e] * solver->residual[e];
        solver->force[edge->clock] += force;
        solver->force[hub] -= force;
        solver->diagonal[edge->clock] += solver->weight[e];
        solver->diagonal[hub] += solver->weight[e];
    }
}

// force' D^-1 force; the way becomes D^-1 force + share x way.
static double turn(struct solver *solver, double before)
{
    double now = 0;
    for (uint32_t n = 0; n < solver->node_count; n++)
        if (solver->diagonal[n] > 0)
            now += solver->force[n] * solver->force[n] / solver->diagonal[n];
    double share = before > 0 ? now / before : 0;
    for (uint32_t n = 0; n < solver->node_count; n++)
        if (solver->diagonal[n] > 0)
            solver->way[n] = solver->force[n] / solver->diagonal[n] + share * solver->way[n];
    return now;
}

// Largest correction of the weighted least squares.
static double correct(struct solver *solver)
{
    begin_correction(solver);
    double power = 0, largest_ns = 0;
    for (int step = 0; step < STEPS; step++) {
        power = turn(solver, power);
        multiply(solver, solver->way, solver->pull);
        double along = 0, moved_ns = 0;
        for (uint32_t n = 0; n < solver->node_count; n++)
            along += solver->way[n] * solver->pull[n];
        if (!(along > 0))
            break;
        for (uint32_t n = 0; n < solver->node_count; n++) {
            solver->change[n] += power / along * solver->way[n];
            solver->force[n] -= power / along * solver->pull[n];
            moved_ns = fmax(moved_ns, fabs(power / along * solver->way[n]));
        }
        if (moved_ns < PRECISE_NS / 100)
            break;
    }
    for (uint32_t n = 0; n < solver->node_count; n++) {
        solver->value[n] += solver->change[n];
        largest_ns = fmax(largest_ns, fabs(solver->change[n]));
    }
    return largest_ns;
}

static bool choose_zeros(struct solver *solver, struct arena *scratch, struct err *err)
{
    struct clock_graph *graph = solver->graph;
    uint32_t *lowest = arena_array(scratch, graph->component_count, sizeof *lowest, err);
    if (!lowest)
        return false;
    for (uint32_t clock = graph->clock_count; clock-- > 0;)
        lowest[graph->component[clock]] = clock;
    for (uint32_t clock = 0; clock < graph->clock_count; clock++)
        graph->offset_ns[clock] =
            solver->value[clock] - solver->value[lowest[graph->component[clock]]];
    return true;
}

bool clock_graph_solve(struct clock_graph *graph, struct arena *scratch, struct err *err)
{
    struct solver solver = {.graph = graph};
    if (!make_solver(&solver, scratch, err))
        return false;
    list_edges(&solver);
    if (!span(&solver, scratch, err))
        return false;
    for (int round = 0; graph->edge_count > 0 && round < ROUNDS; round++) {
        find_residuals(&solver);
        weigh(&solver, round == 0);
        if (correct(&solver) < PRECISE_NS)
            break;
    }
    return choose_zeros(&solver, scratch, err);
}
