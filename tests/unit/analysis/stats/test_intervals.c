// SPDX-License-Identifier: Apache-2.0
// Unions and differences of spans, computed by hand.
#include "tests/unit/intervals_minus.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void spans_that_touch_or_overlap_become_one(void **state)
{
    (void)state;
    struct span spans[] = {{0, 10}, {5, 7}, {10, 12}, {13, 14}, {13, 20}};
    size_t count = intervals_union(spans, 5);
    assert_int_equal(count, 2);
    assert_int_equal(spans[0].begin, 0);
    assert_int_equal(spans[0].end, 12);
    assert_int_equal(spans[1].begin, 13);
    assert_int_equal(spans[1].end, 20);
    assert_int_equal(intervals_length(spans, count), 19);
}

static void nothing_has_no_length(void **state)
{
    (void)state;
    assert_int_equal(intervals_union(NULL, 0), 0);
    assert_int_equal(intervals_length(NULL, 0), 0);
}

static void a_difference_keeps_what_sticks_out(void **state)
{
    (void)state;
    const struct span a[] = {{0, 10}, {20, 30}, {40, 50}};
    const struct span b[] = {{2, 4}, {8, 22}, {25, 26}, {40, 50}};
    struct span out[7];
    size_t count = intervals_minus(a, 3, b, 4, out);
    const struct span expected[] = {{0, 2}, {4, 8}, {22, 25}, {26, 30}};
    assert_int_equal(count, 4);
    assert_memory_equal(out, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_that_touch_or_overlap_become_one),
        cmocka_unit_test(nothing_has_no_length),
        cmocka_unit_test(a_difference_keeps_what_sticks_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
