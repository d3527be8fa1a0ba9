// SPDX-License-Identifier: Apache-2.0
// Shifts between recordings that began apart, and how long it takes to find none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/ranks/run_shift.h"

#include <time.h>

// Seconds of a core: many times what it takes, and a fraction of what growth would.
#define LONGEST  5
#define CALLS    200000
#define GROUPS   1000000
#define BEHIND   3
#define APART_NS 100000

static struct misfit_call known_calls[CALLS], lane_calls[CALLS];

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static int64_t draw(uint64_t number, int64_t below)
{
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return below ? (int64_t)((z ^ z >> 27) % (uint64_t)below) : 0;
}

// Calls that end so far apart, and by up to so much later.
static void make_calls(struct misfit_call *calls, uint32_t first, int64_t apart_ns,
                       int64_t later_ns)
{
    for (uint32_t i = 0; i < CALLS; i++)
        calls[i].end_ns = (int64_t)(first + i) * apart_ns + draw(first + i, later_ns);
}

static struct run_shift find(void)
{
    struct budget budget = {0};
    struct arena arena;
    struct err err = {0};
    struct run_shift found;
    arena_init(&arena, &budget);
    assert_true(run_shift_find((struct misfit_lane){.calls = known_calls, .count = CALLS},
                               (struct misfit_lane){.calls = lane_calls, .count = CALLS}, &arena,
                               &found, &err));
    arena_free(&arena);
    return found;
}

static void ends_show_the_shift_of_equal_calls(void **state)
{
    (void)state;
    make_calls(known_calls, 0, APART_NS, 50000);
    make_calls(lane_calls, BEHIND, APART_NS, 50000);
    for (uint32_t i = 0; i < CALLS; i++)
        lane_calls[i].end_ns += 1000000;
    struct run_shift found = find();
    assert_true(found.known && found.clear && !found.in_place);
    assert_int_equal(found.offset_ns, -1000000);
}

// Every shift fits as well as any other.
static void equal_calls_at_equal_distances_take_bounded_time(void **state)
{
    (void)state;
    for (int64_t apart_ns = 0; apart_ns <= APART_NS; apart_ns += APART_NS) {
        make_calls(known_calls, 0, apart_ns, 0);
        make_calls(lane_calls, BEHIND, apart_ns, 0);
        double before_s = seconds();
        struct run_shift found = find();
        assert_true(found.known && !found.clear && found.in_place);
        assert_int_equal(found.offset_ns, 0);
        assert_true(seconds() - before_s < LONGEST);
    }
}

// As of sends between all pairs of a thousand ranks.
static void groups_of_a_single_call_take_next_to_none(void **state)
{
    (void)state;
    struct misfit_lane known = {.calls = known_calls, .count = 1};
    struct misfit_lane lane = {.calls = lane_calls, .count = 1};
    double before_s = seconds();
    for (uint32_t g = 0; g < GROUPS; g++)
        assert_true(run_shift_is_nearest(known, lane));
    assert_true(seconds() - before_s < LONGEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_show_the_shift_of_equal_calls),
        cmocka_unit_test(equal_calls_at_equal_distances_take_bounded_time),
        cmocka_unit_test(groups_of_a_single_call_take_next_to_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
