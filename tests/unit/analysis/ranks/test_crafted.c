// SPDX-License-Identifier: Apache-2.0
// Traces and calls crafted so that a careless loop takes quadratic time: each takes well under a
// second here, and minutes with such a loop.
#include "analysis/ranks/pipeline_stages.h"
#include "analysis/ranks/run_clock_stages.h"
#include "tests/unit/gap_hand.h"

#include "analysis/findings/findings.h"

#include <time.h>

#define MOST_S 10.0

enum { MANY = 100000 };

static void assert_fast(clock_t since)
{
    double seconds = (double)(clock() - since) / CLOCKS_PER_SEC;
    if (seconds > MOST_S)
        fail_msg("took %.1f s", seconds);
}

static void add_copy(struct hand *hand, int64_t begin_us, int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_MEMCPY,
                                       .name = "Memcpy HtoD (Pageable -> Device)",
                                       .begin_ns = begin_us * US,
                                       .dur_ns = US,
                                       .row = COMPUTE,
                                       .correlation = correlation});
}

static void add_launch(struct hand *hand, const char *name, struct stretch when,
                       int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = name,
                                       .begin_ns = when.begin * US,
                                       .dur_ns = (when.end - when.begin) * US,
                                       .pid = 1,
                                       .row = MAIN,
                                       .correlation = correlation});
}

// One loader operator only launches copies, and waits for the host before each.
static void a_loader_with_many_copies(void **state)
{
    (void)state;
    struct hand hand;
    clock_t since = clock();
    hand_begin(&hand);
    add_host(&hand, EVENT_CPU_OP, MAIN,
             "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", span(0, 10 * MANY));
    add_host(&hand, EVENT_CPU_OP, MAIN, "aten::copy_", span(1, 10 * MANY - 1));
    for (int64_t i = 1; i < MANY; i++) {
        add_launch(&hand, "cudaMemcpyAsync", span(10 * i, 10 * i + 1), i);
        add_copy(&hand, 10 * i + 2, i);
    }
    hand_facts(&hand);
    assert_gap(&hand, 13, "data_loading",
               "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    hand_end(&hand);
    assert_fast(since);
}

// One call with many copies, a gap after each, and many events before the next call.
static void a_call_with_many_copies(void **state)
{
    (void)state;
    struct hand hand;
    clock_t since = clock();
    hand_begin(&hand);
    add_launch(&hand, "cudaMemcpyAsync", span(0, 1), 1);
    for (int64_t i = 1; i < MANY; i++) {
        add_copy(&hand, 10 * i + 2, 1);
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::view", span(10 * i, 10 * i + 1));
    }
    hand_analyze(&hand);
    hand_end(&hand);
    assert_fast(since);
}

// Attention after attention, all inside operators nested thousands deep.
static void attention_deep_within_operators(void **state)
{
    (void)state;
    static const char *const ops[] = {"aten::bmm", "aten::_softmax", "aten::bmm"};
    const int64_t deep = MANY / 5, count = MANY / 5;
    struct hand hand;
    clock_t since = clock();
    hand_begin(&hand);
    for (int64_t i = 0; i < deep; i++)
        add_host(&hand, EVENT_CPU_OP, MAIN, "aten::outer", span(i, 2 * deep + 100 * count - i));
    for (int64_t i = 0; i < 3 * count; i++) {
        int64_t at_us = deep + 10 * i;
        add_host(&hand, EVENT_CPU_OP, MAIN, ops[i % 3], span(at_us, at_us + 5));
        add_launch(&hand, "cudaLaunchKernel", span(at_us + 1, at_us + 2), i + 1);
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = "k",
                                            .begin_ns = (at_us + 3) * US,
                                            .dur_ns = US,
                                            .row = COMPUTE,
                                            .correlation = i + 1});
    }
    hand_facts(&hand);
    assert_int_equal(hand.facts.devices[0].category, CATEGORY_ATTENTION);
    hand_end(&hand);
    assert_fast(since);
}

// The first overlapping events are split to the nanosecond, and no crowd of them takes long.
static void events_that_cross_many_steps(void **state)
{
    (void)state;
    static struct step steps[MANY];
    static int64_t step_ns[MANY];
    struct device_event event = {.begin_ns = 50, .end_ns = 100 * (int64_t)MANY};
    struct facts facts = {.steps = steps, .step_count = MANY, .devices = &event};
    struct finding_case the_case = {.facts = &facts};
    struct atom atom = {.device = 0};
    struct step_cursor cursor = {.at = {0}};
    clock_t since = clock();
    for (int64_t s = 0; s < MANY; s++)
        steps[s] = (struct step){.begin_ns = 100 * s, .end_ns = 100 * (s + 1), .steady = true};
    findings_add_to_steps(&the_case, &cursor, &atom, event.end_ns - event.begin_ns, step_ns);
    assert_int_equal(step_ns[0], 50);
    assert_int_equal(step_ns[MANY - 1], 100);
    for (int i = 0; i < MANY; i++)
        findings_add_to_steps(&the_case, &cursor, &atom, 1, step_ns);
    assert_fast(since);
}

// --- sends of a run -----------------------------------------------------------------------------

// Rank 0 sends to rank 1 in one operation per sender.
struct senders {
    struct budget budget;
    struct arena arena;
    struct run_comm comm;
    struct err err;
};

static void senders_begin(struct senders *all, uint32_t ops)
{
    *all = (struct senders){0};
    arena_init(&all->arena, &all->budget);
    all->comm = (struct run_comm){.budget = &all->budget, .rank_count = 2, .op_count = 2 * ops};
    all->comm.ranks = arena_array(&all->arena, 2, sizeof *all->comm.ranks, &all->err);
    all->comm.ops = arena_array(&all->arena, 2 * (size_t)ops, sizeof *all->comm.ops, &all->err);
    all->comm.groups = arena_array(&all->arena, 1, sizeof *all->comm.groups, &all->err);
    all->comm.group_count = 1;
    assert_non_null(all->comm.groups);
    for (uint32_t r = 0; r < 2; r++) {
        struct comm_rank *rank = &all->comm.ranks[r];
        *rank = (struct comm_rank){.rank = r, .step_count = 1, .count = MANY, .component = r};
        rank->events = arena_array(&all->arena, MANY, sizeof *rank->events, &all->err);
        rank->steps = arena_array(&all->arena, 1, sizeof *rank->steps, &all->err);
        assert_true(rank->events && rank->steps);
        rank->steps[0].steady = true;
        for (uint32_t i = 0; i < MANY; i++)
            rank->events[i] =
                (struct comm_event){.begin_ns = i, .dur_ns = 5, .op = 2 * (i % ops) + r};
        for (uint32_t i = 0; i < ops; i++)
            all->comm.ops[2 * i + r] = (struct comm_op){.kind = r ? KIND_RECV : KIND_SEND,
                                                        .bytes = (1 << 24) + i,
                                                        .phase = STR("forward"),
                                                        .peer = 1 - (int64_t)r};
    }
}

static void senders_end(struct senders *all)
{
    arena_free(&all->arena);
    assert_int_equal(all->budget.used, 0);
}

static void sends_of_many_sizes(void **state)
{
    (void)state;
    struct senders all;
    struct pipeline_stages stages;
    uint32_t team_of[1] = {0};
    struct team team = {0};
    struct strategy_use use = {.teams = &team, .team_count = 1, .team_of = team_of, .steady = true};
    clock_t since = clock();
    senders_begin(&all, MANY);
    assert_true(pipeline_stages_find(&all.comm, &use, &all.arena, &stages, &all.err));
    assert_int_equal(stages.stage_count, 2);
    assert_int_equal(stages.micro_batches, 1); // one of each size
    senders_end(&all);
    assert_fast(since);
}

// One kernel of many sends, each of them a match that could link two clocks.
static void a_kernel_of_many_sends(void **state)
{
    (void)state;
    struct senders all;
    struct clock_pairs pairs;
    clock_t since = clock();
    senders_begin(&all, 1);
    all.comm.component_count = 2;
    all.comm.match_count = MANY;
    all.comm.matches = arena_array(&all.arena, MANY, sizeof *all.comm.matches, &all.err);
    all.comm.members = arena_array(&all.arena, 2 * MANY, sizeof *all.comm.members, &all.err);
    assert_true(all.comm.matches && all.comm.members);
    for (uint32_t i = 0; i < MANY; i++) {
        all.comm.matches[i] = (struct comm_match){.first = 2 * i, .count = 2};
        for (uint32_t r = 0; r < 2; r++) {
            all.comm.members[2 * i + r] = (struct comm_member){.rank = r, .event = i};
            all.comm.ranks[r].events[i].joined = i > 0;
        }
    }
    struct clock_slice slice = {.slice = RUN_CLOCK_ALL};
    struct clock_graph graph = {0};
    graph.edges = arena_array(&all.arena, 2, sizeof *graph.edges, &all.err);
    assert_true(run_clock_sends_find(&all.comm, &all.arena, &pairs, &all.err));
    assert_true(run_clock_sends_add(&all.comm, &pairs, &slice, &graph, &all.err));
    assert_int_equal(pairs.count, 1);
    senders_end(&all);
    assert_fast(since);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loader_with_many_copies),
        cmocka_unit_test(a_call_with_many_copies),
        cmocka_unit_test(attention_deep_within_operators),
        cmocka_unit_test(events_that_cross_many_steps),
        cmocka_unit_test(sends_of_many_sizes),
        cmocka_unit_test(a_kernel_of_many_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
