// SPDX-License-Identifier: Apache-2.0
// Calls of ranks with different recordings: in every case each call gets one slot, and true
// partners share it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/ranks/run_misfit.h"

#include <string.h>

#define LANES 6
#define CALLS 200

struct crowd {
    struct misfit_call calls[LANES][CALLS];
    struct misfit_lane lanes[LANES];
    uint32_t slots[LANES * CALLS];
    uint32_t slot_count;
    uint64_t random;
};

static uint64_t draw(struct crowd *crowd, uint64_t below)
{
    uint64_t z = crowd->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return (z ^ z >> 27) % below;
}

static void match(struct crowd *crowd)
{
    struct budget budget = {0};
    struct err err = {0};
    for (uint32_t l = 0; l < LANES; l++)
        crowd->lanes[l].calls = crowd->calls[l];
    struct misfit misfit = {.lanes = crowd->lanes, .lane_count = LANES, .slots = crowd->slots};
    assert_true(run_misfit_match(&misfit, &budget, &err));
    crowd->slot_count = misfit.slot_count;
    assert_int_equal(budget.used, 0);
}

// Every call has a slot, no two of a lane the same, and no slot is empty.
static void check_slots(const struct crowd *crowd)
{
    static bool seen[LANES * CALLS], any[LANES * CALLS];
    memset(any, 0, sizeof any);
    for (uint32_t l = 0; l < LANES; l++) {
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < crowd->lanes[l].count; i++) {
            uint32_t slot = crowd->slots[crowd->calls[l][i].index];
            assert_true(slot < crowd->slot_count);
            assert_false(seen[slot]);
            seen[slot] = any[slot] = true;
        }
    }
    for (uint32_t slot = 0; slot < crowd->slot_count; slot++)
        assert_true(any[slot]);
}

static void any_calls_at_all_get_slots_of_their_own(void **state)
{
    (void)state;
    static struct crowd crowd;
    for (int round = 0; round < 300; round++) {
        crowd = (struct crowd){.random = (uint64_t)round};
        uint64_t kinds = 1 + draw(&crowd, 5), span = 1 + draw(&crowd, 1000000);
        for (uint32_t l = 0; l < LANES; l++) {
            crowd.lanes[l].count = (uint32_t)draw(&crowd, CALLS + 1);
            for (uint32_t i = 0; i < crowd.lanes[l].count; i++) {
                uint32_t symbol = (uint32_t)draw(&crowd, kinds);
                crowd.calls[l][i] =
                    (struct misfit_call){.symbol = symbol,
                                         .stepped = symbol + (uint32_t)draw(&crowd, 2),
                                         .end_ns = (int64_t)draw(&crowd, span),
                                         .dur_ns = (uint32_t)draw(&crowd, span),
                                         .index = l * CALLS + i};
            }
        }
        match(&crowd);
        check_slots(&crowd);
    }
}

// A lane that lost one call in forty of a common history, with its own clock.
static void record_most(struct crowd *crowd, uint32_t l, const int64_t ends_ns[CALLS])
{
    struct misfit_lane *lane = &crowd->lanes[l];
    int64_t offset_ns = (int64_t)draw(crowd, 100000000) - 50000000;
    for (uint32_t i = 0; i < CALLS; i++) {
        if (draw(crowd, 40) == 0)
            continue;
        crowd->calls[l][lane->count++] =
            (struct misfit_call){.end_ns = ends_ns[i] + offset_ns + (int64_t)draw(crowd, 5000),
                                 .dur_ns = 20000 + (uint32_t)draw(crowd, 200000),
                                 .index = l * CALLS + i};
    }
}

static void check_partners(const struct crowd *crowd)
{
    uint32_t slots[CALLS];
    memset(slots, 0xFF, sizeof slots);
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t i = 0; i < crowd->lanes[l].count; i++) {
            uint32_t call = crowd->calls[l][i].index, *slot = &slots[call % CALLS];
            *slot = *slot == UINT32_MAX ? crowd->slots[call] : *slot;
            assert_int_equal(*slot, crowd->slots[call]);
        }
}

// All calls are alike, so that only their ends show which are missing.
static void ends_tell_which_of_equal_calls_are_missing(void **state)
{
    (void)state;
    static struct crowd crowd;
    for (int round = 0; round < 50; round++) {
        crowd = (struct crowd){.random = (uint64_t)round};
        int64_t ends_ns[CALLS], now_ns = 0;
        for (int i = 0; i < CALLS; i++)
            ends_ns[i] = now_ns += 300000 + (int64_t)draw(&crowd, 200000);
        for (uint32_t l = 0; l < LANES; l++)
            record_most(&crowd, l, ends_ns);
        match(&crowd);
        check_slots(&crowd);
        check_partners(&crowd);
    }
}

// Steps like each other: shifted by whole ones, ends agree nearly as well as true ones.
static void calls_missing_here_and_there_are_no_shift(void **state)
{
    (void)state;
    static const int64_t places_ns[] = {0, 14000000, 29000000, 43000000};
    static struct crowd crowd;
    for (int round = 0; round < 100; round++) {
        crowd = (struct crowd){.random = (uint64_t)round};
        for (uint32_t i = 0, count = 0; i < 48; i++) {
            int64_t end_ns = i / 4 * 146000000 + places_ns[i % 4] + (int64_t)draw(&crowd, 60000);
            crowd.calls[0][i] = (struct misfit_call){
                .symbol = 1, .stepped = 1, .end_ns = end_ns, .dur_ns = 40000, .index = i};
            crowd.calls[1][count] = crowd.calls[0][i];
            crowd.calls[1][count].end_ns += 30000000 + (int64_t)draw(&crowd, 1000);
            crowd.calls[1][count].index = CALLS + i;
            count += i % 17 != 16;
            crowd.lanes[0].count = i + 1;
            crowd.lanes[1].count = count;
        }
        match(&crowd);
        for (uint32_t i = 0; i < crowd.lanes[1].count; i++) {
            uint32_t index = crowd.calls[1][i].index;
            assert_int_equal(crowd.slots[index], crowd.slots[index - CALLS]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_calls_at_all_get_slots_of_their_own),
        cmocka_unit_test(ends_tell_which_of_equal_calls_are_missing),
        cmocka_unit_test(calls_missing_here_and_there_are_no_shift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
