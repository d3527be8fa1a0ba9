// SPDX-License-Identifier: Apache-2.0
// After a clock jump nothing is deleted at once.
#include "server/care/retention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOUR ((int64_t)3600 * 1000000000)
#define DAY  (24 * HOUR)
#define YEAR (365 * DAY)
#define NOW  (50 * YEAR)

// The monotonic clock has its own origin.
#define BOOT (3 * DAY)

static void a_clock_that_goes_as_time_does_is_believed_for_years(void **state)
{
    (void)state;
    struct retention r;
    retention_init(&r, NOW, BOOT);
    for (int64_t passed = 0; passed < 2 * YEAR; passed += 5 * DAY)
        assert_true(retention_may_delete(&r, NOW + passed + passed / 50, BOOT + passed));
}

static void a_leap_of_a_year_deletes_nothing_until_the_clock_is_set_right(void **state)
{
    (void)state;
    struct retention r;
    retention_init(&r, NOW, BOOT);
    assert_true(retention_may_delete(&r, NOW + HOUR, BOOT + HOUR));
    for (int64_t passed = 2 * HOUR; passed < 20 * HOUR; passed += HOUR)
        assert_false(retention_may_delete(&r, NOW + YEAR + passed, BOOT + passed));
    assert_true(retention_may_delete(&r, NOW + 20 * HOUR, BOOT + 20 * HOUR));
    assert_false(retention_may_delete(&r, NOW + 3 * YEAR, BOOT + 30 * HOUR)); // a new jump
    assert_false(retention_may_delete(&r, NOW + 3 * YEAR, BOOT + 53 * HOUR));
}

// Asks every minute for some hours; returns after how many hours the clock is trusted, -1: never.
static int hours_of_doubt(struct retention *r, int64_t wall_ns, int64_t steady_ns, int hours)
{
    for (int64_t passed = 0; passed < hours * HOUR; passed += HOUR / 60)
        if (retention_may_delete(r, wall_ns + passed, steady_ns + passed))
            return (int)(passed / HOUR);
    return -1;
}

static void the_longer_the_leap_the_longer_the_doubt(void **state)
{
    (void)state;
    static const struct {
        int days, hours;
    } leaps[] = {{2, 2}, {10, 18}, {100, 114}, {365, 176}, {56 * 365, 369}};
    for (size_t i = 0; i < sizeof(leaps) / sizeof(*leaps); i++) {
        struct retention r;
        retention_init(&r, NOW, BOOT);
        assert_int_equal(hours_of_doubt(&r, NOW + leaps[i].days * DAY, BOOT, 1000), leaps[i].hours);
    }
}

// The trusted time is all that a process leaves to the next one.
static void a_machine_that_runs_by_day_believes_the_clock_again_after_a_holiday(void **state)
{
    (void)state;
    struct retention r;
    int64_t believed_ns = NOW;
    int days = 14, hours = -1;
    for (; hours < 0 && days < 30; days++) {
        retention_init(&r, believed_ns, BOOT);
        hours = hours_of_doubt(&r, NOW + days * DAY, BOOT, 8);
        believed_ns = r.believed_ns;
    }
    assert_int_equal(days, 18);
}

// A process may first be asked long after it started.
static void a_long_time_between_two_questions_is_no_leap_and_overflows_nothing(void **state)
{
    (void)state;
    struct retention r;
    retention_init(&r, 0, 0);
    assert_false(retention_may_delete(&r, INT64_MAX, 0));
    assert_false(retention_may_delete(&r, INT64_MAX, DAY));
    retention_init(&r, NOW, BOOT);
    assert_true(retention_may_delete(&r, NOW + 40 * YEAR, BOOT + 40 * YEAR));
}

static void by_a_clock_that_leapt_nothing_expires_before_it_is_believed(void **state)
{
    (void)state;
    struct retention r;
    retention_init(&r, NOW, BOOT);
    assert_true(retention_clock_ns(&r, NOW + HOUR, BOOT + HOUR) == NOW + HOUR);
    assert_true(retention_clock_ns(&r, NOW + DAY, BOOT + HOUR) == NOW + DAY);
    assert_true(retention_clock_ns(&r, NOW + 5 * DAY, BOOT + HOUR) == NOW + HOUR);
    assert_true(retention_clock_ns(&r, NOW - YEAR, BOOT + HOUR) == NOW - YEAR);
    assert_false(retention_may_delete(&r, NOW + 5 * DAY, BOOT + HOUR));
    int64_t then_ns = retention_clock_ns(&r, NOW + 5 * DAY, BOOT + HOUR);
    assert_true(then_ns > NOW + HOUR && then_ns < NOW + 5 * DAY); // it catches up
}

static void a_clock_that_is_set_back_is_believed(void **state)
{
    (void)state;
    struct retention r;
    retention_init(&r, NOW, BOOT);
    assert_true(retention_may_delete(&r, NOW - YEAR, BOOT + HOUR));
    assert_false(retention_may_delete(&r, NOW, BOOT + 2 * HOUR));
}

static void looks_at_all_runs_take_one_percent_of_the_time(void **state)
{
    (void)state;
    assert_int_equal(retention_pause_ns(0), HOUR / 6);
    assert_int_equal(retention_pause_ns(HOUR / 600), HOUR / 6);
    assert_int_equal(retention_pause_ns(HOUR / 100), HOUR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_goes_as_time_does_is_believed_for_years),
        cmocka_unit_test(a_leap_of_a_year_deletes_nothing_until_the_clock_is_set_right),
        cmocka_unit_test(the_longer_the_leap_the_longer_the_doubt),
        cmocka_unit_test(a_machine_that_runs_by_day_believes_the_clock_again_after_a_holiday),
        cmocka_unit_test(a_long_time_between_two_questions_is_no_leap_and_overflows_nothing),
        cmocka_unit_test(by_a_clock_that_leapt_nothing_expires_before_it_is_believed),
        cmocka_unit_test(a_clock_that_is_set_back_is_believed),
        cmocka_unit_test(looks_at_all_runs_take_one_percent_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
