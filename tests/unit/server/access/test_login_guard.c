// SPDX-License-Identifier: Apache-2.0
// Ten failures within a minute make an address wait, and no other one.
#include "server/access/login_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

static int begin(void **state)
{
    *state = login_guard_new(NULL, NULL);
    return *state ? 0 : 1;
}

static int end(void **state)
{
    login_guard_free(*state);
    return 0;
}

static void the_tenth_failure_within_a_minute_makes_one_wait(void **state)
{
    struct login_guard *guard = *state;
    struct str one = STR("10.0.0.1"), other = STR("10.0.0.2");
    for (int i = 0; i < LOGIN_GUARD_FAILURES; i++) {
        assert_int_equal(login_guard_wait_s(guard, one, i * SECOND), 0);
        login_guard_fail(guard, one, i * SECOND);
    }
    assert_in_range(login_guard_wait_s(guard, one, 10 * SECOND), 50, 51);
    assert_in_range(login_guard_wait_s(guard, one, 59 * SECOND), 1, 2);
    assert_int_equal(login_guard_wait_s(guard, one, 60 * SECOND), 0);
    assert_int_equal(login_guard_wait_s(guard, other, 10 * SECOND), 0);
}

static void after_the_wait_one_more_failure_waits_for_the_next_oldest(void **state)
{
    struct login_guard *guard = *state;
    struct str one = STR("10.0.0.1");
    for (int i = 0; i < LOGIN_GUARD_FAILURES; i++)
        login_guard_fail(guard, one, i * SECOND);
    login_guard_fail(guard, one, 60 * SECOND);
    assert_in_range(login_guard_wait_s(guard, one, 60 * SECOND), 1, 2);
    assert_int_equal(login_guard_wait_s(guard, one, 61 * SECOND), 0);
}

static void slow_failures_never_wait(void **state)
{
    struct login_guard *guard = *state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(login_guard_wait_s(guard, STR("10.0.0.1"), i * 7 * SECOND), 0);
        login_guard_fail(guard, STR("10.0.0.1"), i * 7 * SECOND);
    }
}

static void a_flood_of_addresses_pushes_out_old_ones_first(void **state)
{
    struct login_guard *guard = *state;
    char text[24];
    for (int i = 0; i < 100000; i++) {
        snprintf(text, sizeof(text), "10.%d.%d.%d", i >> 16, (i >> 8) & 255, i & 255);
        login_guard_fail(guard, str_of(text), i);
    }
    for (int i = 0; i < LOGIN_GUARD_FAILURES; i++)
        login_guard_fail(guard, STR("192.168.0.1"), 200000 + i);
    assert_true(login_guard_wait_s(guard, STR("192.168.0.1"), 200100) > 0);
    assert_int_equal(login_guard_wait_s(guard, str_of(text), 200100), 0);
}

static void addresses_of_one_ipv6_network_wait_together(void **state)
{
    struct login_guard *guard = *state;
    char text[40];
    for (int i = 0; i < LOGIN_GUARD_FAILURES; i++) {
        snprintf(text, sizeof(text), "2001:db8:1:2::%x", i);
        login_guard_fail(guard, str_of(text), i);
        snprintf(text, sizeof(text), "::ffff:10.0.0.%d", i);
        login_guard_fail(guard, str_of(text), i);
    }
    assert_true(login_guard_wait_s(guard, STR("2001:db8:1:2:ffff::9"), SECOND) > 0);
    assert_int_equal(login_guard_wait_s(guard, STR("2001:db8:1:3::1"), SECOND), 0);
    assert_int_equal(login_guard_wait_s(guard, STR("::ffff:10.0.0.1"), SECOND), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_tenth_failure_within_a_minute_makes_one_wait, begin,
                                        end),
        cmocka_unit_test_setup_teardown(after_the_wait_one_more_failure_waits_for_the_next_oldest,
                                        begin, end),
        cmocka_unit_test_setup_teardown(addresses_of_one_ipv6_network_wait_together, begin, end),
        cmocka_unit_test_setup_teardown(slow_failures_never_wait, begin, end),
        cmocka_unit_test_setup_teardown(a_flood_of_addresses_pushes_out_old_ones_first, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
