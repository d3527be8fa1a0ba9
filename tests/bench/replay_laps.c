// SPDX-License-Identifier: Apache-2.0
// Measures one replay of a graph with the shape of a job: ranks with a host and a device each, and
// collectives that join them.
#include "analysis/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RANKS = 64, JOIN_EVERY = 64, LAPS = 9 };

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct made {
    struct replay_edge *edges;
    int64_t *dur;
    size_t edge_count;
    uint32_t node_count;
};

static void join(struct made *made, uint32_t from, uint32_t to)
{
    made->edges[made->edge_count++] = (struct replay_edge){from, to, 500};
}

// Rounds in which each rank launches and runs a kernel; every 64th round all ranks meet.
static bool make(struct made *made, uint32_t nodes, struct arena *arena, struct err *err)
{
    made->edges = arena_room(arena, (size_t)nodes * 2, sizeof *made->edges, err);
    made->dur = arena_room(arena, nodes, sizeof *made->dur, err);
    if (!made->edges || !made->dur)
        return false;
    uint32_t next = 0, host[RANKS] = {0}, device[RANKS] = {0};
    for (uint32_t round = 0; next + 3 * RANKS + 1 <= nodes; round++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            uint32_t launch = next++, kernel = next++;
            if (round > 0)
                join(made, host[r], launch);
            if (round > 0)
                join(made, device[r], kernel);
            join(made, launch, kernel);
            host[r] = launch;
            device[r] = kernel;
        }
        for (uint32_t r = 0; r < RANKS && round % JOIN_EVERY == JOIN_EVERY - 1; r++)
            join(made, device[r], next);
        for (uint32_t r = 0; r < RANKS && round % JOIN_EVERY == JOIN_EVERY - 1; r++)
            device[r] = next;
        next += round % JOIN_EVERY == JOIN_EVERY - 1;
    }
    made->node_count = next;
    for (uint32_t n = 0; n < next; n++)
        made->dur[n] = 1000 + n % 977;
    return true;
}

static void show(const char *what, int64_t best_ns, uint32_t nodes, int scenarios)
{
    printf("%-28s %8.2f ms %6.2f ns per node and scenario\n", what, (double)best_ns / 1e6,
           (double)best_ns / nodes / scenarios);
}

static void lap(const struct replay_graph *graph, const struct made *made, int64_t *room,
                int64_t best[4])
{
    size_t n = graph->node_count;
    int64_t *end = room, *slack = room + n, *lanes = room + 2 * n, last[REPLAY_LANES];
    int64_t at[5] = {now_ns()};
    int64_t whole = replay_run(graph, made->dur, end);
    at[1] = now_ns();
    replay_slack(graph, made->dur, end, whole, slack);
    at[2] = now_ns();
    struct replay_hop *hops = (struct replay_hop *)(void *)lanes;
    replay_path(graph, end, hops);
    at[3] = now_ns();
    for (size_t i = 0; i < n * REPLAY_LANES; i++)
        lanes[i] = made->dur[i / REPLAY_LANES];
    int64_t begin_ns = now_ns();
    replay_run_lanes(graph, lanes, lanes + n * REPLAY_LANES, last);
    int64_t took[4] = {at[1] - at[0], at[2] - at[1], at[3] - at[2], now_ns() - begin_ns};
    for (int i = 0; i < 4; i++)
        best[i] = took[i] < best[i] ? took[i] : best[i];
}

static bool measure(uint32_t nodes, struct arena *arena, struct err *err)
{
    struct made made = {0};
    struct replay_graph graph;
    int64_t best[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    if (!make(&made, nodes, arena, err))
        return false;
    int64_t begin_ns = now_ns();
    bool ok = replay_graph_make(made.edges, made.edge_count, made.node_count, arena, &graph, err);
    int64_t made_ns = now_ns() - begin_ns;
    int64_t *room = arena_array(arena, (size_t)nodes * (2 + 2 * REPLAY_LANES), sizeof *room, err);
    if (!ok || !room)
        return false;
    for (int i = 0; i < LAPS; i++)
        lap(&graph, &made, room, best);
    printf("%u nodes, %u edges, %d ranks\n", graph.node_count, graph.edge_count, RANKS);
    show("graph made", made_ns, nodes, 1);
    show("one change", best[0], nodes, 1);
    show("slack of all", best[1], nodes, 1);
    show("critical path", best[2], nodes, 1);
    show("eight changes at once", best[3], nodes, REPLAY_LANES);
    return true;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    long nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    bool ok = nodes >= 1000 && nodes <= 100000000 && measure((uint32_t)nodes, &arena, &err);
    if (!ok)
        fprintf(stderr, "bench_replay: %s\n", err.code ? err.msg : "usage: bench_replay [NODES]");
    arena_free(&arena);
    return ok ? 0 : 1;
}
