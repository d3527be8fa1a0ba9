// SPDX-License-Identifier: Apache-2.0
// Drifts and jumps of a clock in noise: found if present, and not found otherwise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/stats/clock_fit.h"
#include "tests/unit/near.h"

#include <math.h>

#define S 1e9

// Evenly distributed pseudo-random numbers from -1 to 1.
static double chance(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void fill(struct clock_point *points, size_t count, double noise_ns, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        points[i] = (struct clock_point){(double)i * S / 4, noise_ns * chance(&seed)};
}

// At most one in a thousand of 6,000 series of up to 20 us.
static void noise_is_neither_drift_nor_jump(void **state)
{
    (void)state;
    struct clock_point points[CLOCK_FIT_MAX];
    int mistaken = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++)
        for (size_t count = CLOCK_FIT_MIN; count <= 24; count += 8) {
            fill(points, count, 100 * (double)(seed % 200), seed);
            struct clock_fit fit = clock_fit_make(points, count);
            assert_int_equal(fit.jump_count, 0);
            mistaken += fit.drift != 0;
        }
    assert_in_range(mistaken, 0, 6);
}

// 24 points a quarter of a second apart with noise of 1 us.
static void a_drift_is_found_among_noise(void **state)
{
    (void)state;
    struct clock_point points[24];
    for (int ppm = -50; ppm <= 50; ppm += 5) {
        fill(points, 24, 1000, 7);
        for (size_t i = 0; i < 24; i++)
            points[i].away_ns += ppm * 1e-6 * points[i].time_ns;
        struct clock_fit fit = clock_fit_make(points, 24);
        assert_near(fit.drift * 1e6, ppm, 0.2);
        assert_int_equal(fit.jump_count, 0);
    }
}

// 8 ms from the twelfth point on, which is itself halfway; with and without a drift of 20 ppm.
static void a_jump_is_found_beside_a_drift(void **state)
{
    (void)state;
    struct clock_point points[24];
    for (int ppm = 0; ppm <= 20; ppm += 20)
        for (int by_ms = -8; by_ms <= 8; by_ms += 16) {
            fill(points, 24, 1000, 3);
            for (size_t i = 0; i < 24; i++)
                points[i].away_ns += ppm * 1e-6 * points[i].time_ns + (i < 11    ? 0
                                                                       : i == 11 ? 0.5e6
                                                                                 : 1e6) *
                                                                          by_ms;
            struct clock_fit fit = clock_fit_make(points, 24);
            assert_int_equal(fit.jump_count, 1);
            assert_near(fit.jumps[0].point, 11.5, 0.5);
            assert_near(fit.jumps[0].by_ns, 1e6 * by_ms, 5000);
            assert_near(fit.drift * 1e6, ppm, 1);
        }
}

static void two_jumps_are_found(void **state)
{
    (void)state;
    struct clock_point points[24];
    fill(points, 24, 1000, 11);
    for (size_t i = 0; i < 24; i++)
        points[i].away_ns += i < 6 ? 0 : i < 17 ? 3e6 : -1e6;
    struct clock_fit fit = clock_fit_make(points, 24);
    assert_int_equal(fit.jump_count, 2);
    assert_int_equal(fit.jumps[0].point, 6);
    assert_int_equal(fit.jumps[1].point, 17);
    assert_near(fit.jumps[0].by_ns, 3e6, 2000);
    assert_near(fit.jumps[1].by_ns, -4e6, 2000);
    assert_true(fit.drift == 0);
}

static void a_single_point_is_no_jump(void **state)
{
    (void)state;
    struct clock_point points[24];
    fill(points, 24, 1000, 5);
    points[9].away_ns = 5e6;
    struct clock_fit fit = clock_fit_make(points, 24);
    assert_true(clock_fit_is_straight(&fit));
}

static void few_points_tell_nothing(void **state)
{
    (void)state;
    struct clock_point points[CLOCK_FIT_MIN - 1];
    fill(points, CLOCK_FIT_MIN - 1, 0, 1);
    for (size_t i = 0; i < CLOCK_FIT_MIN - 1; i++)
        points[i].away_ns = 1e-5 * points[i].time_ns;
    struct clock_fit fit = clock_fit_make(points, CLOCK_FIT_MIN - 1);
    assert_true(clock_fit_is_straight(&fit));
    fit = clock_fit_make(points, 0);
    assert_true(clock_fit_is_straight(&fit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_neither_drift_nor_jump),
        cmocka_unit_test(a_drift_is_found_among_noise),
        cmocka_unit_test(a_jump_is_found_beside_a_drift),
        cmocka_unit_test(two_jumps_are_found),
        cmocka_unit_test(a_single_point_is_no_jump),
        cmocka_unit_test(few_points_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
