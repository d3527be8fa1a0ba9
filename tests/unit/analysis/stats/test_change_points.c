// SPDX-License-Identifier: Apache-2.0
// Changes of level: found where they were planted, soon, and not in noise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analysis/stats/change_points.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define MOST 8

struct found {
    size_t count;
    struct change_point points[MOST];
};

static struct found find(const double *values, size_t count)
{
    struct arena arena;
    struct err err = {0};
    struct change_point *points;
    struct found found;
    arena_init(&arena, NULL);
    if (!change_points_find(values, count, &arena, &points, &found.count, &err))
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < found.count && i < MOST; i++)
        found.points[i] = points[i];
    arena_free(&arena);
    return found;
}

static void a_step_is_found_where_it_is(void **state)
{
    (void)state;
    static const double values[] = {100e6, 101e6, 99e6,  100e6, 101e6, 100e6, 99e6,
                                    110e6, 111e6, 109e6, 110e6, 111e6, 110e6};
    struct found found = find(values, 13);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.points[0].at, 7);
    assert_near(found.points[0].before_ns, 100e6, 1);
    assert_near(found.points[0].after_ns, 110e6, 1);
    assert_near(found.points[0].p_value, 2.0 / 1716, 1e-12); // 2 / (13 choose 6), fully separated
}

static void both_directions_and_several_levels_are_found(void **state)
{
    (void)state;
    struct noise noise = {21};
    double values[80];
    for (size_t i = 0; i < 4; i++)
        noise_fill(&noise, NOISE_NORMAL, (double[]){0, 0.08, 0.02, 0.10}[i], values + 20 * i, 20);
    struct found found = find(values, 80);
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(found.points[i].at + 1 >= 20 * (i + 1) &&
                    found.points[i].at <= 20 * (i + 1) + 1);
        assert_int_equal(found.points[i].after_ns > found.points[i].before_ns, i != 1);
    }
    assert_true(found.points[0].after_ns == found.points[1].before_ns);
}

static void one_or_two_far_runs_are_no_change(void **state)
{
    (void)state;
    struct noise noise = {22};
    double values[40];
    noise_fill(&noise, NOISE_NORMAL, 0, values, 40);
    values[11] *= 2;
    values[20] *= 3;
    values[21] *= 3;
    values[39] *= 5;
    assert_int_equal(find(values, 40).count, 0);
    values[38] *= 5;
    assert_int_equal(find(values, 40).count, 0);
    values[37] *= 5;
    values[36] *= 5; // the third and the fourth of them
    struct found found = find(values, 40);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.points[0].at, 36);
}

static void changes_too_small_to_matter_are_not_reported(void **state)
{
    (void)state;
    double values[40];
    for (size_t i = 0; i < 40; i++)
        values[i] = 1e8 * (i < 20 ? 1 : 1.001);
    assert_int_equal(find(values, 40).count, 0);
    for (size_t i = 20; i < 40; i++)
        values[i] = 1.003e8;
    assert_int_equal(find(values, 40).count, 1);
}

static void runs_without_a_time_are_passed_over_but_counted(void **state)
{
    (void)state;
    static const double bad[] = {0, NAN, -1, INFINITY};
    double values[48];
    for (size_t i = 0; i < 48; i++)
        values[i] = i % 2 ? (i < 24 ? 1e8 : 2e8) : bad[i / 2 % 4];
    struct found found = find(values, 48);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.points[0].at, 25);
}

static void odd_series_have_no_change(void **state)
{
    (void)state;
    double values[40];
    for (size_t i = 0; i < 40; i++)
        values[i] = 1e18;
    assert_int_equal(find(NULL, 0).count, 0);
    for (size_t count = 1; count <= 40; count++)
        assert_int_equal(find(values, count).count, 0);
    for (size_t i = 0; i < 40; i++)
        values[i] = NAN;
    assert_int_equal(find(values, 40).count, 0);
    for (size_t i = 0; i < 40; i++)
        values[i] = i % 2 ? 1 : 1e18;
    assert_int_equal(find(values, 40).count, 0);
}

static void of_long_series_the_newest_runs_count(void **state)
{
    (void)state;
    size_t count = CHANGE_POINTS_MAX_RUNS + 100;
    double *values = calloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = i < 90 ? 5e8 : i < count - 10 ? 1e8 : 2e8;
    struct found found = find(values, count);
    free(values);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.points[0].at, count - 10);
}

// Judged after each run, as by a service, and once at the end.
static void quiet_series_rarely_tell_a_change(void **state)
{
    (void)state;
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++) {
        struct noise noise = {23};
        int ever = 0, rounds = 25;
        for (int round = 0; round < rounds; round++) {
            double values[60];
            size_t found = 0;
            noise_fill(&noise, kind, 0, values, 60);
            for (size_t count = 6; count <= 60; count++)
                found += find(values, count).count;
            ever += found > 0;
        }
        assert_true(ever <= 4); // 2 to 6 % of 100 runs, see the table of analysis/COMPARE.md
    }
}

static size_t delay_of(struct noise *noise, double shift)
{
    double values[60];
    noise_fill(noise, NOISE_NORMAL, 0, values, 30);
    noise_fill(noise, NOISE_NORMAL, shift, values + 30, 30);
    for (size_t count = 31; count <= 60; count++) {
        struct found found = find(values, count);
        if (found.count && found.points[found.count - 1].at >= 28)
            return count - 30;
    }
    return 31;
}

static void a_change_of_five_percent_is_reported_with_the_third_run_or_soon_after(void **state)
{
    (void)state;
    struct noise noise = {24};
    size_t sum = 0, rounds = 100;
    for (size_t round = 0; round < rounds; round++) {
        size_t delay = delay_of(&noise, 0.05);
        assert_in_range(delay, CHANGE_POINTS_MIN_RUNS, 30);
        sum += delay;
    }
    assert_true(sum <= 5 * rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_found_where_it_is),
        cmocka_unit_test(both_directions_and_several_levels_are_found),
        cmocka_unit_test(one_or_two_far_runs_are_no_change),
        cmocka_unit_test(changes_too_small_to_matter_are_not_reported),
        cmocka_unit_test(runs_without_a_time_are_passed_over_but_counted),
        cmocka_unit_test(odd_series_have_no_change),
        cmocka_unit_test(of_long_series_the_newest_runs_count),
        cmocka_unit_test(quiet_series_rarely_tell_a_change),
        cmocka_unit_test(a_change_of_five_percent_is_reported_with_the_third_run_or_soon_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
