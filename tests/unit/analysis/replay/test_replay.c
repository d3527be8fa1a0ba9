// SPDX-License-Identifier: Apache-2.0
// Replays of small random graphs against every path through them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/replay/overlap.h"

enum { MAX_NODES = 8, MAX_EDGES = 14, ROUNDS = 100000 };

struct small {
    uint32_t nodes, edges;
    struct replay_edge edge[MAX_EDGES];
    int64_t dur[MAX_NODES];
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 27;
}

// The numbers of the nodes are shuffled, so that edges lead up and down.
static void draw(struct small *small, uint64_t *random)
{
    uint32_t name[MAX_NODES];
    small->nodes = 1 + (uint32_t)(next_random(random) % MAX_NODES);
    small->edges = small->nodes < 2 ? 0 : (uint32_t)(next_random(random) % MAX_EDGES);
    for (uint32_t n = 0; n < small->nodes; n++) {
        uint32_t other = (uint32_t)(next_random(random) % (n + 1));
        name[n] = name[other];
        name[other] = n;
        small->dur[n] = 1 + (int64_t)(next_random(random) % 1000);
    }
    for (uint32_t e = 0; e < small->edges; e++) {
        uint32_t to = 1 + (uint32_t)(next_random(random) % (small->nodes - 1));
        uint32_t from = (uint32_t)(next_random(random) % to);
        int32_t lag = (int32_t)(next_random(random) % 40); // half of them without any
        small->edge[e] = (struct replay_edge){name[from], name[to], lag < 20 ? lag : 0};
    }
}

// The longest way that ends with this node, by trying each.
static int64_t longest_to(const struct small *small, uint32_t node)
{
    int64_t start = 0;
    for (uint32_t e = 0; e < small->edges; e++) {
        if (small->edge[e].to != node)
            continue;
        int64_t ready = longest_to(small, small->edge[e].from) + small->edge[e].lag;
        start = ready > start ? ready : start;
    }
    return start + small->dur[node];
}

static int64_t longest(const struct small *small)
{
    int64_t last = 0;
    for (uint32_t n = 0; n < small->nodes; n++) {
        int64_t end = longest_to(small, n);
        last = end > last ? end : last;
    }
    return last;
}

static int64_t longest_with(struct small *small, uint32_t node, int64_t more)
{
    small->dur[node] += more;
    int64_t last = longest(small);
    small->dur[node] -= more;
    return last;
}

// A node with slack may take that much longer; one without delays the end by what it takes longer.
static void check_slack(struct small *small, int64_t last, const int64_t *slack)
{
    for (uint32_t n = 0; n < small->nodes; n++) {
        assert_true(slack[n] >= 0);
        assert_int_equal(longest_with(small, n, slack[n]), last);
        assert_int_equal(longest_with(small, n, slack[n] + 1), last + 1);
        if (slack[n] > 0)
            assert_int_equal(longest_with(small, n, -1), last);
    }
}

// Whether no other path is as long: then each of its nodes shortens the whole.
static bool is_only_path(const struct small *small, const int64_t *end, const int64_t *slack,
                         uint32_t hop_count)
{
    uint32_t nodes = 0, edges = 0;
    for (uint32_t n = 0; n < small->nodes; n++)
        nodes += slack[n] == 0;
    for (uint32_t e = 0; e < small->edges; e++) {
        uint32_t from = small->edge[e].from, to = small->edge[e].to;
        edges += slack[from] == 0 && slack[to] == 0 &&
                 end[from] + small->edge[e].lag == end[to] - small->dur[to];
    }
    return nodes == hop_count && edges == hop_count - 1;
}

static void check_path(struct small *small, const struct replay_graph *graph, const int64_t *end,
                       const int64_t *slack)
{
    struct replay_hop hops[MAX_NODES];
    uint32_t count = replay_path(graph, end, hops);
    int64_t sum = 0, last = longest(small);
    for (uint32_t h = 0; h < count; h++) {
        assert_int_equal(slack[hops[h].node], 0);
        assert_int_equal(hops[h].edge == REPLAY_NONE, h == 0);
        sum += small->dur[hops[h].node];
        if (h == 0)
            continue;
        struct replay_edge edge = replay_edge_to(graph, hops[h].node, hops[h].edge);
        assert_int_equal(edge.from, hops[h - 1].node);
        sum += edge.lag;
    }
    assert_int_equal(sum, last);
    for (uint32_t h = 0; h < count && is_only_path(small, end, slack, count); h++)
        assert_int_equal(longest_with(small, hops[h].node, -1), last - 1);
}

// Whether a node that takes so much longer leaves these two as they ended.
static bool leaves(struct small *small, uint32_t node, int64_t longer, const uint32_t *targets,
                   const int64_t *end)
{
    small->dur[node] += longer;
    bool same = longest_to(small, targets[0]) <= end[targets[0]] &&
                longest_to(small, targets[1]) <= end[targets[1]];
    small->dur[node] -= longer;
    return same;
}

static void check_slack_to(struct small *small, const struct replay_graph *graph,
                           const int64_t *end)
{
    const uint32_t targets[] = {small->nodes / 2, small->nodes / 3};
    const struct replay_nodes nodes = {targets, 2};
    int64_t slack[MAX_NODES];
    replay_slack_to(graph, small->dur, end, &nodes, slack);
    for (uint32_t n = 0; n < small->nodes; n++) {
        bool bound = slack[n] != REPLAY_UNBOUND;
        assert_true(leaves(small, n, bound ? slack[n] : 1000000, targets, end));
        assert_true(!bound || !leaves(small, n, slack[n] + 1, targets, end));
    }
}

static void check_lanes(const struct small *small, const struct replay_graph *graph)
{
    int64_t dur[MAX_NODES * REPLAY_LANES], end[MAX_NODES * REPLAY_LANES], last[REPLAY_LANES];
    for (uint32_t n = 0; n < small->nodes; n++)
        for (int k = 0; k < REPLAY_LANES; k++)
            dur[n * REPLAY_LANES + k] = small->dur[n] * (k + 1);
    replay_run_lanes(graph, dur, end, last);
    for (int k = 0; k < REPLAY_LANES; k++) {
        int64_t one[MAX_NODES], ends[MAX_NODES];
        for (uint32_t n = 0; n < small->nodes; n++)
            one[n] = small->dur[n] * (k + 1);
        assert_int_equal(replay_run(graph, one, ends), last[k]);
        for (uint32_t n = 0; n < small->nodes; n++)
            assert_int_equal(ends[n], end[n * REPLAY_LANES + k]);
    }
}

static void random_graphs_are_replayed_as_every_path_through_them_says(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        struct small small;
        struct replay_graph graph;
        struct arena arena;
        struct err err = {0};
        int64_t end[MAX_NODES], slack[MAX_NODES];
        draw(&small, &random);
        arena_init(&arena, NULL);
        assert_true(replay_graph_make(small.edge, small.edges, small.nodes, &arena, &graph, &err));
        int64_t last = replay_run(&graph, small.dur, end);
        assert_int_equal(last, longest(&small));
        for (uint32_t n = 0; n < small.nodes; n++)
            assert_int_equal(end[n], longest_to(&small, n));
        replay_slack(&graph, small.dur, end, last, slack);
        check_slack(&small, last, slack);
        check_path(&small, &graph, end, slack);
        if (round % 16 == 0)
            check_lanes(&small, &graph);
        if (round % 64 == 0)
            check_slack_to(&small, &graph, end);
        arena_free(&arena);
    }
}

// Only the first edge of a node can be left out, so that the first of equally late ones counts.
static void a_node_that_follows_the_one_before_needs_no_edge(void **state)
{
    (void)state;
    const struct replay_edge edges[] = {{0, 1, 0}, {1, 2, 0}, {0, 2, 5}, {0, 3, 0}, {2, 3, 0}};
    const int64_t dur[] = {10, 20, 30, 40};
    int64_t end[4];
    struct replay_graph graph;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(replay_graph_make(edges, 5, 4, &arena, &graph, &err));
    assert_int_equal(graph.edge_count, 5);
    assert_int_equal(replay_first(&graph, 4), 3);
    assert_int_equal(replay_edges_to(&graph, 2), 2);
    assert_int_equal(replay_edge_to(&graph, 2, 0).from, 1);
    assert_int_equal(replay_edge_to(&graph, 2, 1).lag, 5);
    assert_int_equal(replay_edge_to(&graph, 3, 0).from, 0);
    assert_int_equal(replay_run(&graph, dur, end), 100);
    arena_free(&arena);
}

static void a_cycle_is_refused(void **state)
{
    (void)state;
    const struct replay_edge edges[] = {{0, 1, 0}, {1, 2, 0}, {2, 1, 0}};
    struct replay_graph graph;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_false(replay_graph_make(edges, 3, 4, &arena, &graph, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    assert_string_equal(err.msg, "2 of 4 nodes wait for each other in a cycle");
    arena_free(&arena);
}

static void nothing_takes_no_time(void **state)
{
    (void)state;
    struct replay_graph graph;
    struct replay_hop hop;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(replay_graph_make(NULL, 0, 0, &arena, &graph, &err));
    assert_int_equal(replay_run(&graph, NULL, NULL), 0);
    assert_int_equal(replay_path(&graph, NULL, &hop), 0);
    arena_free(&arena);
}

static void times_whose_sum_could_overflow_are_refused(void **state)
{
    (void)state;
    const struct replay_edge edges[] = {{0, 1, 5}};
    struct replay_graph graph;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    assert_true(replay_graph_make(edges, 1, 2, &arena, &graph, &err));
    const int64_t some[] = {INT64_MAX / 16, -INT64_MAX / 16};
    const int64_t far[] = {INT64_MAX / 8, INT64_MIN}, long_sum[] = {INT64_MAX / 5, INT64_MAX / 5};
    assert_true(replay_fits(&graph, some, &err));
    assert_false(replay_fits(&graph, far, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_false(replay_fits(&graph, long_sum, &err));
    arena_free(&arena);
}

// Two nodes of other streams are overlapped, and a third waits for nothing else.
static void what_waits_for_overlapped_work_only_keeps_all_its_reasons(void **state)
{
    (void)state;
    const struct replay_edge edges[] = {{0, 2, 0}, {1, 2, 0}};
    struct arena arena;
    struct err err;
    struct overlap overlap;
    struct replay_graph graph, made;
    arena_init(&arena, NULL);
    assert_true(replay_graph_make(edges, 2, 3, &arena, &graph, &err));
    assert_true(overlap_open(&overlap, 3, &arena, &err));
    for (uint32_t n = 0; n < 3; n++) {
        overlap.lane[n] = n;
        overlap.loose[n] = n < 2;
    }
    assert_true(overlap_make(&overlap, &graph, &arena, &made, &err));
    assert_int_equal(made.edge_count, 2);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_are_replayed_as_every_path_through_them_says),
        cmocka_unit_test(what_waits_for_overlapped_work_only_keeps_all_its_reasons),
        cmocka_unit_test(a_node_that_follows_the_one_before_needs_no_edge),
        cmocka_unit_test(a_cycle_is_refused),
        cmocka_unit_test(nothing_takes_no_time),
        cmocka_unit_test(times_whose_sum_could_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
