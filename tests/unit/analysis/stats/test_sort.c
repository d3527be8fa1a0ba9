// SPDX-License-Identifier: Apache-2.0
// Sorting is right at every length and keeps the order of equal keys; groups number distinct keys.
#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

enum { KINDS = 5 };

// Keys of few distinct values, of both signs, of the whole range, in order, or equal.
static int64_t make_key(uint64_t *random, int kind, int place)
{
    uint64_t bits = next(random) << 13 ^ next(random);
    if (kind > 2)
        return kind == 3 ? place - 100 : -7;
    if (kind == 0)
        return (int64_t)(bits % 5) - 2;
    return kind == 1 ? (int64_t)(bits % 100000) - 50000 : (int64_t)bits;
}

static void items_are_sorted_and_equal_ones_keep_their_order(void **state)
{
    (void)state;
    enum { MAX = 700 };
    static const int lengths[] = {0, 1, 2, 47, 48, 49, 300, MAX};
    struct keyed *items = malloc(2 * MAX * sizeof *items);
    uint64_t random = 1;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int kind = 0; kind < KINDS; kind++) {
            for (int i = 0; i < lengths[l]; i++)
                items[i] = (struct keyed){make_key(&random, kind, i), (uint32_t)i, 0};
            sort_keyed(items, items + MAX, (size_t)lengths[l]);
            for (int i = 1; i < lengths[l]; i++) {
                assert_true(items[i - 1].key <= items[i].key);
                assert_true(items[i - 1].key < items[i].key || items[i - 1].a < items[i].a);
            }
        }
    free(items);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void numbers_are_sorted_as_the_library_sorts_them(void **state)
{
    (void)state;
    enum { COUNT = 900 };
    int64_t *values = malloc(3 * COUNT * sizeof *values), *expected = values + 2 * COUNT;
    uint64_t random = 2;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < COUNT; i++)
            values[i] = expected[i] = make_key(&random, kind, i);
        values[3] = expected[3] = INT64_MIN;
        values[4] = expected[4] = INT64_MAX;
        sort_i64(values, values + COUNT, COUNT);
        qsort(expected, COUNT, sizeof *expected, compare);
        assert_memory_equal(values, expected, COUNT * sizeof *values);
    }
    free(values);
}

static void groups_number_keys_in_the_order_they_come(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct groups groups;
    struct err err;
    groups_init(&groups, &budget);
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 1000; i++) {
            uint32_t index;
            assert_true(groups_index(&groups, i % 10, i / 10, &index, &err));
            assert_int_equal(index, i);
        }
    assert_int_equal(groups.count, 1000);
    assert_int_equal(groups.keys[999].a, 9);
    assert_int_equal(groups.keys[999].b, 99);
    groups_free(&groups);
    assert_int_equal(budget.used, 0);
}

static void groups_past_the_budget_fail_and_free_cleanly(void **state)
{
    (void)state;
    struct budget budget = {.limit = 4096};
    struct groups groups;
    struct err err;
    uint32_t index;
    uint64_t i = 0;
    groups_init(&groups, &budget);
    while (groups_index(&groups, i, 0, &index, &err))
        i++;
    assert_true(i >= 64 && i < 256);
    assert_int_equal(err.code, ERR_LIMIT);
    groups_free(&groups);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_sorted_and_equal_ones_keep_their_order),
        cmocka_unit_test(numbers_are_sorted_as_the_library_sorts_them),
        cmocka_unit_test(groups_number_keys_in_the_order_they_come),
        cmocka_unit_test(groups_past_the_budget_fail_and_free_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
