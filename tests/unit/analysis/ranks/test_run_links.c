// SPDX-License-Identifier: Apache-2.0
// What slow groups cost, on handmade calls.
#include "analysis/ranks/run_links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define US      INT64_C(1000)
#define GROUPS  4
#define STEPS   2
#define CALLS   2 // of a group per step
#define MATCHES (GROUPS * STEPS * CALLS)

// Four groups of two ranks, all of which reduce twice a step: group g has ranks g and g + 4. The
// first rank of a group arrives 5 us before the second.
struct hand {
    struct budget budget;
    struct run_comm comm;
    struct comm_rank ranks[2 * GROUPS];
    struct comm_event events[2 * GROUPS][STEPS * CALLS];
    struct comm_step steps[2 * GROUPS][STEPS];
    struct comm_op ops[GROUPS];
    struct comm_group groups[GROUPS];
    uint32_t members_of[GROUPS][2];
    struct comm_match matches[MATCHES];
    struct comm_member members[2 * MATCHES];
};

static void add_match(struct hand *hand, uint32_t g, uint32_t call, int64_t transfer_ns,
                      int64_t exposed_ns)
{
    uint32_t index = hand->comm.match_count++;
    struct comm_match *match = &hand->matches[index];
    *match =
        (struct comm_match){.op = g, .first = 2 * index, .count = 2, .latest_rank = g + GROUPS};
    match->transfer_ns = transfer_ns;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t rank = g + i * GROUPS;
        int64_t wait_ns = i == 0 ? 5 * US : 0;
        hand->events[rank][call] = (struct comm_event){.begin_ns = call * 1000 * US + 5 * US * i,
                                                       .dur_ns = transfer_ns + wait_ns,
                                                       .wait_ns = wait_ns,
                                                       .exposed_ns = exposed_ns + wait_ns,
                                                       .exposed_wait_ns = wait_ns,
                                                       .op = g,
                                                       .match = index,
                                                       .step = call / CALLS};
        hand->members[2 * index + i] = (struct comm_member){rank, call};
    }
}

static void begin(struct hand *hand, int64_t bytes, enum collective_kind kind)
{
    *hand = (struct hand){.comm = {.ranks = hand->ranks,
                                   .ops = hand->ops,
                                   .groups = hand->groups,
                                   .matches = hand->matches,
                                   .members = hand->members,
                                   .rank_count = 2 * GROUPS,
                                   .op_count = GROUPS,
                                   .group_count = GROUPS}};
    hand->comm.budget = &hand->budget;
    for (uint32_t g = 0; g < GROUPS; g++) {
        hand->members_of[g][0] = g;
        hand->members_of[g][1] = g + GROUPS;
        hand->groups[g] = (struct comm_group){
            .name = STR("dp"), .size = 2, .ranks = hand->members_of[g], .rank_count = 2};
        hand->ops[g] = (struct comm_op){.group = g, .kind = kind, .bytes = bytes};
    }
    for (uint32_t r = 0; r < 2 * GROUPS; r++) {
        for (uint32_t s = 0; s < STEPS; s++)
            hand->steps[r][s] = (struct comm_step){.number = s, .steady = true};
        hand->ranks[r] = (struct comm_rank){.rank = r,
                                            .events = hand->events[r],
                                            .steps = hand->steps[r],
                                            .count = STEPS * CALLS,
                                            .step_count = STEPS};
    }
}

static struct run_links find(struct hand *hand, struct arena *arena)
{
    struct run_links links;
    struct err err;
    assert_true(run_links_find(&hand->comm, 1.5, arena, &links, &err));
    return links;
}

// Transfers take 7 us, those of group 3 17.5. Its first call in a step is hidden, its second
// exposed for 10.6: with a usual transfer 0.1 of that would remain, so the gain is 10.5, and not
// 10.6 x (1 - 7 / 17.5) = 6.36.
static void a_transfer_costs_what_ends_late_and_is_exposed(void **state)
{
    (void)state;
    struct hand hand;
    struct arena arena;
    arena_init(&arena, NULL);
    begin(&hand, 1000000, KIND_ALL_REDUCE);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t call = 0; call < STEPS * CALLS; call++)
            add_match(&hand, g, call, g == 3 ? 17500 : 7000,
                      call % CALLS == 0 ? 0
                      : g == 3          ? 10600
                                        : 100);
    struct run_links links = find(&hand, &arena);
    assert_int_equal(links.count, 1);
    assert_int_equal(links.group_count, 1);
    assert_string_equal(links.list, "3,7");
    assert_int_equal(links.links[0].transfer_ns, 17500);
    assert_int_equal(links.links[0].usual_ns, 7000);
    assert_int_equal(links.links[0].excess_ns, STEPS * 2 * 10500);
    assert_int_equal(links.cost_ns, 10500);
    arena_free(&arena);
}

// Little of it is exposed: no more than that can be gained.
static void a_transfer_that_is_hidden_costs_little(void **state)
{
    (void)state;
    struct hand hand;
    struct arena arena;
    arena_init(&arena, NULL);
    begin(&hand, 1000000, KIND_ALL_REDUCE);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t call = 0; call < STEPS * CALLS; call++)
            add_match(&hand, g, call, g == 3 ? 17500 : 7000, 400);
    assert_int_equal(find(&hand, &arena).cost_ns, CALLS * 400);
    arena_free(&arena);
}

static void groups_that_are_not_alike_are_not_compared(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes, slow_ns;
        enum collective_kind kind;
        const char *span;
        uint32_t slow;
    } cases[] = {
        {-1, 17500, KIND_ALL_TO_ALL, NULL, 0},           // the number of tokens is not known
        {-1, 17500, KIND_ALL_GATHER, NULL, 1},           // those transfer equal amounts
        {1000, 10000, KIND_ALL_REDUCE, NULL, 0},         // 1.43 times is not slow yet
        {1000, 17500, KIND_ALL_REDUCE, "inter-node", 0}, // the only one between nodes
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        struct arena arena;
        arena_init(&arena, NULL);
        begin(&hand, cases[i].bytes, cases[i].kind);
        hand.groups[3].span = cases[i].span;
        for (uint32_t g = 0; g < GROUPS; g++)
            for (uint32_t call = 0; call < STEPS * CALLS; call++)
                add_match(&hand, g, call, g == 3 ? cases[i].slow_ns : 7000, 7000);
        assert_int_equal(find(&hand, &arena).count, cases[i].slow);
        arena_free(&arena);
    }
}

// One of two groups, or two of four: nothing shows which of them are normal, unless the host names
// show that they span nodes in the same way.
static void half_of_the_groups_are_not_slow(void **state)
{
    (void)state;
    static const struct {
        uint32_t groups, slow, found;
        const char *span;
    } cases[] = {
        {2, 1, 0, NULL}, {4, 2, 0, NULL}, {3, 1, 1, NULL}, {4, 1, 1, NULL}, {2, 1, 1, "node"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand hand;
        struct arena arena;
        arena_init(&arena, NULL);
        begin(&hand, 1000000, KIND_ALL_REDUCE);
        for (uint32_t g = 0; g < GROUPS; g++)
            hand.groups[g].span = cases[i].span;
        for (uint32_t g = 0; g < cases[i].groups; g++)
            for (uint32_t call = 0; call < STEPS * CALLS; call++)
                add_match(&hand, g, call, g < cases[i].slow ? 17500 : 7000, 7000);
        struct run_links links = find(&hand, &arena);
        assert_int_equal(links.count, cases[i].found);
        assert_true((links.cost_ns > 0) == (cases[i].found > 0));
        arena_free(&arena);
    }
}

// The second call of each step starts during the first, which is exposed for 15. It is itself slow;
// the 7 it would usually take are its own, so the gain is 8 of the first one's 10.5.
static void what_is_exposed_beside_other_transfers_stays(void **state)
{
    (void)state;
    struct hand hand;
    struct arena arena;
    arena_init(&arena, NULL);
    begin(&hand, 1000000, KIND_ALL_REDUCE);
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t call = 0; call < STEPS * CALLS; call++)
            add_match(&hand, g, call, g == 3 ? 17500 : 7000, call % CALLS || g != 3 ? 0 : 15000);
    for (uint32_t r = 0; r < 2 * GROUPS; r++)
        for (uint32_t call = 1; call < STEPS * CALLS; call += CALLS)
            hand.events[r][call].begin_ns = hand.events[r][call - 1].begin_ns + 1 * US;
    struct run_links links = find(&hand, &arena);
    assert_int_equal(links.cost_ns, 8000);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transfer_costs_what_ends_late_and_is_exposed),
        cmocka_unit_test(a_transfer_that_is_hidden_costs_little),
        cmocka_unit_test(groups_that_are_not_alike_are_not_compared),
        cmocka_unit_test(what_is_exposed_beside_other_transfers_stays),
        cmocka_unit_test(half_of_the_groups_are_not_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
