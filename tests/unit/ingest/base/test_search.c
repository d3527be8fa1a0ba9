// SPDX-License-Identifier: Apache-2.0
// Binary search counts the same as a simple loop, in columns and in members of structs.
#include "ingest/base/search.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define COUNT 9

struct item {
    char before;
    int64_t time_ns;
    uint32_t event;
};

static const int64_t times_ns[COUNT] = {INT64_MIN, -5, -5, 0, 3, 3, 3, 8, INT64_MAX};
static const uint32_t events[COUNT] = {0, 2, 2, 3, 3, 3, 7, UINT32_MAX, UINT32_MAX};

static void make_items(struct item *items)
{
    for (int i = 0; i < COUNT; i++)
        items[i] = (struct item){'x', times_ns[i], events[i]};
}

static void a_time_is_counted_as_by_walking(void **state)
{
    (void)state;
    static const int64_t asked[] = {INT64_MIN, -6, -5, -4, 0, 1, 3, 4, 8, 9, INT64_MAX};
    struct item items[COUNT];
    make_items(items);
    for (uint32_t count = 0; count <= COUNT; count++)
        for (size_t a = 0; a < sizeof asked / sizeof *asked; a++) {
            uint32_t below = 0, upto = 0;
            for (uint32_t i = 0; i < count; i++) {
                below += times_ns[i] < asked[a];
                upto += times_ns[i] <= asked[a];
            }
            assert_int_equal(count_below_i64(times_ns, count, sizeof *times_ns, asked[a]), below);
            assert_int_equal(count_upto_i64(times_ns, count, sizeof *times_ns, asked[a]), upto);
            assert_int_equal(count_below_i64(&items->time_ns, count, sizeof *items, asked[a]),
                             below);
            assert_int_equal(count_upto_i64(&items->time_ns, count, sizeof *items, asked[a]), upto);
        }
}

static void a_number_is_counted_as_by_walking(void **state)
{
    (void)state;
    static const uint32_t asked[] = {0, 1, 2, 3, 4, 7, 8, UINT32_MAX - 1, UINT32_MAX};
    struct item items[COUNT];
    make_items(items);
    for (uint32_t count = 0; count <= COUNT; count++)
        for (size_t a = 0; a < sizeof asked / sizeof *asked; a++) {
            uint32_t below = 0, upto = 0;
            for (uint32_t i = 0; i < count; i++) {
                below += events[i] < asked[a];
                upto += events[i] <= asked[a];
            }
            assert_int_equal(count_below_u32(events, count, sizeof *events, asked[a]), below);
            assert_int_equal(count_upto_u32(events, count, sizeof *events, asked[a]), upto);
            assert_int_equal(count_below_u32(&items->event, count, sizeof *items, asked[a]), below);
            assert_int_equal(count_upto_u32(&items->event, count, sizeof *items, asked[a]), upto);
        }
}

static void nothing_is_counted_where_there_is_nothing(void **state)
{
    (void)state;
    const struct item *none = NULL;
    assert_int_equal(count_below_i64(FIRST_OF(none, time_ns), 0, sizeof *none, 1), 0);
    assert_int_equal(count_upto_u32(FIRST_OF(none, event), 0, sizeof *none, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_counted_as_by_walking),
        cmocka_unit_test(a_number_is_counted_as_by_walking),
        cmocka_unit_test(nothing_is_counted_where_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
