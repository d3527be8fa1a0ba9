// SPDX-License-Identifier: Apache-2.0
// The sequential test by hand, its forecast, and how often it is ever wrong when read after each
// run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/stats/anytime.h"
#include "tests/unit/near.h"
#include "tests/unit/noise.h"

#define SIDE(list) ((struct samples){list, sizeof(list) / sizeof *(list)})

// CASES.md: squares 4, pull 1, shrunk 1/11: the ratio is sqrt(1/11) (9/11)^-1.5 = 11/27. The
// mixture is above with the probability that Student's t with 3 degrees is below sqrt(2/3).
static void evidence_of_two_runs_a_side_is_that_by_hand(void **state)
{
    (void)state;
    const double a[] = {-0.01, 0.01}, b[] = {0, 0.02};
    struct anytime anytime = anytime_judge(SIDE(a), SIDE(b), 0, 0.05);
    double t = sqrt(2.0) / 3, above = 0.5 + (t / (1 + t * t) + atan(t)) / acos(-1);
    assert_near(anytime.above_evidence, 2 * 11.0 / 27 * above, 1e-9);
    assert_near(anytime.below_evidence, 2 * 11.0 / 27 * (1 - above), 1e-9);
    assert_int_equal(anytime.result, ANYTIME_UNDECIDED);
    struct anytime moved = anytime_judge(SIDE(a), SIDE(b), 0.02, 0.05); // as far on the other side
    assert_near(moved.below_evidence, anytime.above_evidence, 1e-9);
}

static void sides_apart_decide(void **state)
{
    (void)state;
    const double a[] = {0, 0.001, -0.001, 0}, b[] = {0.05, 0.051, 0.049, 0.05};
    assert_int_equal(anytime_judge(SIDE(a), SIDE(b), 0.03, 0.05).result, ANYTIME_ABOVE);
    struct anytime below = anytime_judge(SIDE(a), SIDE(b), 0.07, 0.05);
    assert_int_equal(below.result, ANYTIME_BELOW);
    assert_true(below.has_forecast && below.more_pairs == 0);
    const double same[] = {0, 0, 0};
    struct anytime equal = anytime_judge(SIDE(same), SIDE(same), 0.03, 0.05);
    assert_true(equal.result == ANYTIME_BELOW && isfinite(equal.above_evidence));
}

// The forecast comes true if the runs so far are repeated.
static void the_forecast_is_that_of_runs_like_these(void **state)
{
    (void)state;
    const double a[] = {-0.01, 0.01}, b[] = {-0.01, 0.01};
    double more_a[200], more_b[200];
    struct anytime now = anytime_judge(SIDE(a), SIDE(b), 0.02, 0.05);
    assert_true(now.result == ANYTIME_UNDECIDED && now.has_forecast);
    assert_in_range(now.more_pairs, 1, 12);
    for (size_t i = 0; i < 200; i++)
        more_a[i] = more_b[i] = i % 2 ? 0.01 : -0.01;
    // alternating values have less variance than two of them by (n - 1) / n: up to half as many
    size_t pairs = 2;
    while (
        anytime_judge((struct samples){more_a, pairs}, (struct samples){more_b, pairs}, 0.02, 0.05)
            .result == ANYTIME_UNDECIDED)
        pairs += 2;
    assert_in_range(pairs, 4, 2 + now.more_pairs + 1);
    struct anytime never = anytime_judge(SIDE(a), SIDE(b), 0, 0.05);
    assert_false(never.has_forecast);
}

static void too_few_runs_say_nothing(void **state)
{
    (void)state;
    const double one[] = {0}, two[] = {0, 1};
    assert_true(isnan(anytime_judge(SIDE(one), SIDE(one), 0, 0.05).below_evidence));
    assert_true(isnan(anytime_judge((struct samples){one, 0}, SIDE(two), 0, 0.05).below_evidence));
    assert_true(isnan(anytime_judge(SIDE(two), SIDE(two), NAN, 0.05).below_evidence));
    assert_false(isnan(anytime_judge(SIDE(one), SIDE(two), 0, 0.05).below_evidence));
}

#define ROUNDS 400

// The answer for 20 pairs that arrive one by one, with the shift at the limit.
static enum anytime_result read_pairs(struct noise *noise, enum noise_kind kind)
{
    double a[20], b[20];
    enum anytime_result result = ANYTIME_UNDECIDED;
    for (size_t pairs = 1; pairs <= 20 && result == ANYTIME_UNDECIDED; pairs++) {
        a[pairs - 1] = 0.01 * noise_of_kind(noise, kind);
        b[pairs - 1] = 0.03 + 0.01 * noise_of_kind(noise, kind);
        result = anytime_judge((struct samples){a, pairs}, (struct samples){b, pairs}, 0.03, 0.05)
                     .result;
    }
    return result;
}

// Each wrong answer occurs in at most 5 %.
static void readings_after_each_pair_rarely_err(void **state)
{
    (void)state;
    for (enum noise_kind kind = NOISE_NORMAL; kind < NOISE_KINDS; kind++) {
        struct noise noise = {33};
        int results[3] = {0};
        for (int round = 0; round < ROUNDS; round++)
            results[read_pairs(&noise, kind)]++;
        assert_in_range(results[ANYTIME_BELOW], 0, ROUNDS / 20);
        assert_in_range(results[ANYTIME_ABOVE], 0, ROUNDS / 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_of_two_runs_a_side_is_that_by_hand),
        cmocka_unit_test(sides_apart_decide),
        cmocka_unit_test(the_forecast_is_that_of_runs_like_these),
        cmocka_unit_test(too_few_runs_say_nothing),
        cmocka_unit_test(readings_after_each_pair_rarely_err),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
