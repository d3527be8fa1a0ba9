// SPDX-License-Identifier: Apache-2.0
// Replays with an instantaneous network, on handmade calls.
#include "analysis/ranks/run_replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { RANKS = 3, MOST = 8, STEPS = 3 };

struct hand {
    struct budget budget;
    struct run_comm comm;
    struct comm_rank ranks[RANKS];
    struct comm_event events[RANKS][MOST];
    struct comm_match matches[MOST];
    struct comm_step steps[RANKS][STEPS];
    int64_t exposed_ns[RANKS]; // so far
    int64_t ideal_ns[RANKS];   // steady steps
};

// Steps of `step_ns`, one of which counts; each rank's clock is behind by 1,000 times its number.
static void begin(struct hand *hand, int64_t step_ns, uint32_t matches)
{
    *hand = (struct hand){.comm = {.ranks = hand->ranks,
                                   .matches = hand->matches,
                                   .rank_count = RANKS,
                                   .match_count = matches}};
    hand->comm.budget = &hand->budget;
    for (uint32_t r = 0; r < RANKS; r++) {
        hand->ranks[r] =
            (struct comm_rank){.rank = r, .events = hand->events[r], .offset_ns = 1000 * r};
        hand->ranks[r].steps = hand->steps[r];
        hand->ranks[r].step_count = 1;
        for (int64_t i = 0; i < STEPS; i++)
            hand->steps[r][i] = (struct comm_step){.begin_ns = i * step_ns - 1000 * (int64_t)r,
                                                   .end_ns = (i + 1) * step_ns - 1000 * (int64_t)r,
                                                   .steady = true};
    }
}

struct times {
    int64_t begin_ns, end_ns, exposed_ns; // all or part of it is exposed
};

// A call; `match` RUN_NONE: no other rank's call belongs to it.
static void add(struct hand *hand, uint32_t r, uint32_t match, struct times times)
{
    struct comm_event *event = &hand->events[r][hand->ranks[r].count++];
    *event = (struct comm_event){.begin_ns = times.begin_ns - 1000 * (int64_t)r,
                                 .dur_ns = times.end_ns - times.begin_ns,
                                 .exposed_ns = times.exposed_ns,
                                 .launch_ns = INT64_MIN,
                                 .match = match};
    event->before_ns[BEFORE_COMM] = hand->exposed_ns[r];
    hand->exposed_ns[r] += times.exposed_ns;
}

static void replay(struct hand *hand)
{
    struct err err;
    int64_t saved_ns[RANKS];
    assert_true(run_replay(&hand->comm, saved_ns, &err));
    for (int r = 0; r < RANKS; r++) {
        hand->ideal_ns[r] = -saved_ns[r];
        for (uint32_t i = 0; i < hand->ranks[r].step_count; i++)
            if (hand->steps[r][i].steady)
                hand->ideal_ns[r] += hand->steps[r][i].end_ns - hand->steps[r][i].begin_ns;
    }
}

// Ranks 0 and 1 reduce for 30, then 1 and 2, for which rank 2 has waited 30; all compute 10 before
// and 50 after. Rank 2's exposed transfers are only 2, but its wait was for the others' transfer:
// without that it takes 60 and not 90.
static void a_wait_for_others_transfers_goes_with_them(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand, 92, 2);
    add(&hand, 0, 0, (struct times){10, 40, 30});
    add(&hand, 1, 0, (struct times){10, 40, 30});
    add(&hand, 1, 1, (struct times){40, 42, 2});
    add(&hand, 2, 1, (struct times){10, 42, 32});
    hand.steps[0][0].end_ns = 90;
    replay(&hand);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(hand.ideal_ns[r], 60);
}

// Rank 1 computes 50 and 10, rank 0 10 and 50: it waits 40 for rank 1, which no network can avoid.
// A collective hidden by compute delays nobody, and starts no earlier than its last rank.
static void waits_for_compute_stay(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand, 110, 2);
    add(&hand, 0, 0, (struct times){10, 60, 50}); // 40 of wait, 10 of transfer
    add(&hand, 1, 0, (struct times){50, 60, 10});
    add(&hand, 0, 1, (struct times){70, 100, 0}); // alongside compute from 60 to 110
    add(&hand, 1, 1, (struct times){70, 110, 40});
    hand.ranks[2].step_count = 0;
    replay(&hand);
    // Rank 0: done at 50, 50 of compute more. Rank 1: 50, 10 more, and the call is done at 60.
    assert_int_equal(hand.ideal_ns[0], 100);
    assert_int_equal(hand.ideal_ns[1], 60);
    assert_int_equal(hand.ideal_ns[2], 0); // without steps
}

// Calls that overlap each other, and one that nothing matches: nobody is known to wait for that.
static void calls_may_overlap_and_stand_alone(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand, 60, 2);
    add(&hand, 0, 0, (struct times){10, 40, 30}); // then compute from 40 to 60
    add(&hand, 0, 1, (struct times){20, 30, 0});
    hand.events[0][1].before_ns[BEFORE_COMM] = 10; // of the first, so far
    add(&hand, 1, 0, (struct times){20, 40, 20});
    add(&hand, 1, 1, (struct times){25, 30, 0});
    hand.events[1][1].before_ns[BEFORE_COMM] = 5;
    add(&hand, 2, RUN_NONE, (struct times){10, 30, 20});
    replay(&hand);
    assert_int_equal(hand.ideal_ns[0], 40); // waits for rank 1 until 20, then 20 of compute
    assert_int_equal(hand.ideal_ns[1], 40);
    assert_int_equal(hand.ideal_ns[2], 40);
}

// Steps of 100, each with a transfer of 20 that only in the second one has its partner, whose
// recording began later: how long the first one waited is unknown, and nothing is gained by it that
// the second step would lose again.
static void calls_before_their_partners_recorded_take_as_long_as_they_took(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand, 100, 1);
    hand.comm.op_count = 1;
    add(&hand, 0, RUN_NONE, (struct times){40, 60, 20});
    add(&hand, 0, 0, (struct times){140, 160, 20});
    add(&hand, 1, 0, (struct times){140, 160, 20});
    hand.ranks[0].step_count = 2;
    hand.steps[0][0].steady = false;
    hand.ranks[1].steps = &hand.steps[1][1];
    hand.ranks[2].step_count = 0;
    replay(&hand);
    assert_int_equal(hand.ideal_ns[0], 80);
}

// Steps of 100, the first of which is warm-up. The host of rank 0 launches at 60 in each; 10 of
// compute, 20 of transfer, 10 of compute. Rank 1 computes 20 and waits. Without the transfers rank
// 0 finishes 20 earlier, but its host launches when it did. A host that was waiting for its device
// until 90 of the step before launches 20 earlier, too.
static void devices_wait_for_hosts_as_they_did(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct hand hand;
        begin(&hand, 100, 2);
        for (uint32_t i = 0; i < 2; i++) {
            int64_t at_ns = 100 * (int64_t)i;
            add(&hand, 0, i, (struct times){at_ns + 70, at_ns + 90, 20});
            add(&hand, 1, i, (struct times){at_ns + 20, at_ns + 90, 70});
            hand.events[0][i].launch_ns = at_ns + 62;
            hand.events[0][i].before_ns[BEFORE_HOST] = 60 * (i + 1);
            hand.events[0][i].blocked_ns = waits && i ? 30 : 0;
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            hand.ranks[r].step_count = 2;
            hand.steps[r][0].steady = false;
        }
        replay(&hand);
        assert_int_equal(hand.ideal_ns[0], waits ? 80 : 100);
        assert_int_equal(hand.ideal_ns[1], waits ? 80 : 100);
    }
}

// Transfers of 20, 50 and 20; the second step is not steady. Rank 1's clock was set by 1 ms during
// the third one's compute; rank 2 has neither calls nor steps.
static void other_steps_and_jumps_of_clocks_do_not_count(void **state)
{
    (void)state;
    struct hand hand;
    begin(&hand, 100, 3);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t r = 0; r < 2; r++) {
            int64_t at_ns = 100 * (int64_t)i + 10, end_ns = at_ns + (i == 1 ? 50 : 20);
            add(&hand, r, i, (struct times){at_ns, end_ns, end_ns - at_ns});
        }
    for (uint32_t r = 0; r < 2; r++) {
        hand.ranks[r].step_count = 3;
        hand.steps[r][1].steady = false;
    }
    hand.ranks[2].step_count = 0;
    hand.ranks[1].jump_count = 1;
    hand.ranks[1].jumps[0] = (struct clock_jump){250 - 1000, -1000000};
    hand.steps[1][2].end_ns += 1000000;
    replay(&hand);
    assert_int_equal(hand.ideal_ns[0], 160);
    assert_int_equal(hand.ideal_ns[1], 160 + 1000000); // its own clock's time
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_others_transfers_goes_with_them),
        cmocka_unit_test(waits_for_compute_stay),
        cmocka_unit_test(calls_may_overlap_and_stand_alone),
        cmocka_unit_test(calls_before_their_partners_recorded_take_as_long_as_they_took),
        cmocka_unit_test(devices_wait_for_hosts_as_they_did),
        cmocka_unit_test(other_steps_and_jumps_of_clocks_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
