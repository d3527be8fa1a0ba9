// SPDX-License-Identifier: Apache-2.0
// Measures one replay of a graph with the shape of a job: ranks with a host and a device each, and
// collectives that join them. Fails past the limits that are set for such graphs.
#include "analysis/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
    USUAL_RANKS = 64,
    MOST_RANKS = 4096,
    JOIN_EVERY = 64,
    LAPS = 9,
    LANES_UP_TO = 2000000 // nodes; with more, eight changes at once take too much memory
};
#define MOST_NS_PER_NODE 5.0             // of one change
#define MOST_BYTES       ((long)1 << 30) // of a graph of many ranks

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
    uint32_t node_count, ranks;
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
    uint32_t next = 0, ranks = made->ranks;
    uint32_t host[MOST_RANKS] = {0}, device[MOST_RANKS] = {0};
    for (uint32_t round = 0; next + 3 * ranks + 1 <= nodes; round++) {
        for (uint32_t r = 0; r < ranks; r++) {
            uint32_t launch = next++, kernel = next++;
            if (round > 0)
                join(made, host[r], launch);
            if (round > 0)
                join(made, device[r], kernel);
            join(made, launch, kernel);
            host[r] = launch;
            device[r] = kernel;
        }
        for (uint32_t r = 0; r < ranks && round % JOIN_EVERY == JOIN_EVERY - 1; r++)
            join(made, device[r], next);
        for (uint32_t r = 0; r < ranks && round % JOIN_EVERY == JOIN_EVERY - 1; r++)
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
    for (int i = 0; i < 3; i++)
        best[i] = at[i + 1] - at[i] < best[i] ? at[i + 1] - at[i] : best[i];
    if (n > LANES_UP_TO)
        return;
    for (size_t i = 0; i < n * REPLAY_LANES; i++)
        lanes[i] = made->dur[i / REPLAY_LANES];
    int64_t begin_ns = now_ns();
    replay_run_lanes(graph, lanes, lanes + n * REPLAY_LANES, last);
    int64_t took_ns = now_ns() - begin_ns;
    best[3] = took_ns < best[3] ? took_ns : best[3];
}

static long peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

static bool measure(uint32_t nodes, uint32_t ranks, struct arena *arena, struct err *err)
{
    struct made made = {.ranks = ranks};
    struct replay_graph graph;
    int64_t best[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    if (!make(&made, nodes, arena, err))
        return false;
    int64_t begin_ns = now_ns();
    bool ok = replay_graph_make(made.edges, made.edge_count, made.node_count, arena, &graph, err);
    int64_t made_ns = now_ns() - begin_ns;
    size_t rooms = nodes > LANES_UP_TO ? 3 : 2 + 2 * REPLAY_LANES;
    int64_t *room = arena_array(arena, nodes * rooms, sizeof *room, err);
    if (!ok || !room)
        return false;
    for (int i = 0; i < LAPS; i++)
        lap(&graph, &made, room, best);
    printf("%u nodes, %u edges, %u ranks\n", graph.node_count, graph.edge_count, ranks);
    show("graph made", made_ns, nodes, 1);
    show("one change", best[0], nodes, 1);
    show("slack of all", best[1], nodes, 1);
    show("critical path", best[2], nodes, 1);
    if (nodes <= LANES_UP_TO)
        show("eight changes at once", best[3], nodes, REPLAY_LANES);
    long bytes = peak_bytes();
    printf("%-28s %8.0f MiB, %.0f bytes per node with its edges listed twice\n", "peak memory",
           (double)bytes / (1 << 20), (double)bytes / nodes);
    if ((double)best[0] > MOST_NS_PER_NODE * nodes)
        return err_set(err, ERR_LIMIT, "one change takes over %.0f ns per node", MOST_NS_PER_NODE);
    return bytes <= MOST_BYTES || err_set(err, ERR_LIMIT, "it takes over 1 GiB");
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    long nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    long ranks = argc > 2 ? strtol(argv[2], NULL, 10) : USUAL_RANKS;
    bool ok = nodes >= 1000 && nodes <= 100000000 && ranks >= 1 && ranks <= MOST_RANKS &&
              measure((uint32_t)nodes, (uint32_t)ranks, &arena, &err);
    if (!ok)
        fprintf(stderr, "bench_replay: %s\n",
                err.code ? err.msg : "usage: bench_replay [NODES [RANKS]]");
    arena_free(&arena);
    return ok ? 0 : 1;
}
