// SPDX-License-Identifier: Apache-2.0
// Busy intervals of a trace are found in a monitor's utilization, or it is said that they are not.
#include "analysis/stats/busy_match.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND INT64_C(1000000000)
enum { PIECES = 600, SAMPLES = 400 }; // of a tenth of a second; of a second

struct scene {
    int64_t before_ns[PIECES + 1], time_ns[SAMPLES];
    double share[SAMPLES];
    struct busy_pair pair;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

// A trace of a minute that starts `begin_ns` into the monitor's 400 s; seconds are busy or idle by
// the pattern, 0: always busy.
static void make(struct scene *scene, int64_t begin_ns, unsigned period)
{
    unsigned state = 7;
    bool busy[SAMPLES * 10 + PIECES];
    for (size_t i = 0; i < sizeof busy / sizeof *busy; i++)
        busy[i] = period == 1 ? next_random(&state) % 2 : period ? i / 20 % period == 0 : true;
    for (size_t i = 0; i < PIECES; i++)
        scene->before_ns[i + 1] =
            scene->before_ns[i] + (busy[(size_t)(begin_ns / (SECOND / 10)) + i] ? SECOND / 10 : 0);
    for (size_t i = 0; i < SAMPLES; i++) {
        scene->time_ns[i] = (int64_t)(i + 1) * SECOND;
        for (size_t k = 0; k < 10; k++)
            scene->share[i] += busy[i * 10 + k] ? 0.1 : 0;
    }
    scene->pair =
        (struct busy_pair){.profile = {1000 * SECOND, 60 * SECOND, scene->before_ns, PIECES},
                           .samples = {scene->time_ns, scene->share, SAMPLES}};
}

static struct busy_match find(const struct scene *scene, const int64_t *offsets_ns, size_t count)
{
    double work = 1e6;
    return busy_match_find(
        &(struct busy_search){&scene->pair, 1, SECOND, offsets_ns, count, &work});
}

static void an_irregular_trace_is_found_to_a_fraction_of_the_period(void **state)
{
    (void)state;
    static const int64_t begins_ns[] = {100 * SECOND, 237 * SECOND + SECOND / 2, 320 * SECOND};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene = {0};
        make(&scene, begins_ns[i], 1);
        struct busy_match match = find(&scene, NULL, 0);
        assert_true(match.unique);
        assert_true(match.r > 0.95 && match.r > match.other_r + 0.2);
        assert_true(llabs(match.offset_ns - (1000 * SECOND - begins_ns[i])) <= SECOND / 10);
        assert_true(match.samples >= 55);
    }
}

static void a_pattern_that_repeats_is_at_no_single_time(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, 100 * SECOND, 3); // 2 s busy, 4 s idle
    struct busy_match match = find(&scene, NULL, 0);
    assert_true(match.tried && !match.unique);
    assert_true(match.r - match.other_r < 0.05);
}

static void a_gpu_that_is_always_busy_says_nothing(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, 100 * SECOND, 0);
    assert_false(find(&scene, NULL, 0).tried);
}

// A trace that is idle first and busy then is anywhere where a job starts.
static void a_single_change_is_no_match(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, 0, 0);
    for (size_t i = 0; i < PIECES; i++)
        scene.before_ns[i + 1] = scene.before_ns[i] + (i < PIECES / 2 ? 0 : SECOND / 10);
    for (size_t i = 0; i < SAMPLES; i++)
        scene.share[i] = i < SAMPLES / 2 ? 0.02 * (double)(i % 3) : 0.96 + 0.02 * (double)(i % 3);
    struct busy_match match = find(&scene, NULL, 0);
    assert_true(match.tried && match.r > 0.95 && match.independent < 10);
    assert_false(match.unique);
}

static void searches_share_their_work(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, 100 * SECOND, 1);
    double work = 150000;
    struct busy_search search = {&scene.pair, 1, SECOND, NULL, 0, &work};
    assert_true(busy_match_find(&search).unique);
    assert_true(work < 75000);
    assert_false(busy_match_find(&search).tried);
}

static void another_trace_is_not_found(void **state)
{
    (void)state;
    struct scene scene = {0}, other = {0};
    make(&scene, 100 * SECOND, 1);
    make(&other, 237 * SECOND + SECOND / 2, 1);
    for (size_t i = 0; i < SAMPLES; i++) // the seconds in reverse
        scene.share[i] = other.share[SAMPLES - 1 - i];
    assert_false(find(&scene, NULL, 0).unique);
}

static void of_given_offsets_the_one_that_fits_is_chosen(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, 100 * SECOND, 1);
    const int64_t offsets_ns[] = {900 * SECOND - 60 * SECOND, 900 * SECOND,
                                  900 * SECOND + 60 * SECOND};
    struct busy_match match = find(&scene, offsets_ns, 3);
    assert_true(match.unique);
    assert_int_equal(match.offset_ns, 900 * SECOND);
}

static void a_share_is_of_the_time_asked_for(void **state)
{
    (void)state;
    static const int64_t before_ns[] = {0, 10, 10};
    const struct busy_profile profile = {100, 20, before_ns, 2};
    assert_true(busy_share(&profile, 100, 120) == 0.5);
    assert_true(busy_share(&profile, 105, 115) == 0.5);
    assert_true(busy_share(&profile, 110, 120) == 0);
    assert_true(isnan(busy_share(&profile, 99, 110)));
    assert_true(isnan(busy_share(&profile, 110, 121)));
    assert_true(isnan(busy_share(&profile, 110, 110)));
    assert_true(isnan(busy_share(&profile, INT64_MIN, INT64_MAX)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_irregular_trace_is_found_to_a_fraction_of_the_period),
        cmocka_unit_test(a_pattern_that_repeats_is_at_no_single_time),
        cmocka_unit_test(a_gpu_that_is_always_busy_says_nothing),
        cmocka_unit_test(a_single_change_is_no_match),
        cmocka_unit_test(searches_share_their_work),
        cmocka_unit_test(another_trace_is_not_found),
        cmocka_unit_test(of_given_offsets_the_one_that_fits_is_chosen),
        cmocka_unit_test(a_share_is_of_the_time_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
