// SPDX-License-Identifier: Apache-2.0
// Sorting the events of one row.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/trace/row_sort.h"
#include "tests/tracegen/splitmix.h"

static int by_key_then_event(const void *left, const void *right)
{
    const struct row_key *a = left, *b = right;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

// Stable sorting equals sorting by place as well.
static void check(struct row_key *keys, size_t count)
{
    struct row_key *expected = malloc((count + 1) * sizeof *keys);
    struct row_key *scratch = malloc((count + 1) * sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i].event = (uint32_t)i;
    memcpy(expected, keys, count * sizeof *keys);
    qsort(expected, count, sizeof *keys, by_key_then_event);
    row_sort(keys, scratch, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(by_key_then_event(&keys[i], &expected[i]), 0);
    free(expected);
    free(scratch);
}

static void rows_of_every_length_and_order_are_sorted_stably(void **state)
{
    (void)state;
    struct splitmix random = {3};
    for (size_t count = 0; count < 700; count += count < 70 ? 1 : 61) {
        struct row_key *keys = calloc(count + 1, sizeof *keys);
        for (int shape = 0; shape < 5; shape++) {
            for (size_t i = 0; i < count; i++) {
                int64_t r = (int64_t)(splitmix_next(&random) % 8);
                int64_t n = (int64_t)i;
                const int64_t begins[] = {r, n, -n, n + r, 5};
                keys[i] = (struct row_key){.begin_ns = begins[shape], .second = r % 3};
            }
            check(keys, count);
        }
        free(keys);
    }
}

static void extreme_times_are_in_order(void **state)
{
    (void)state;
    struct row_key keys[] = {{INT64_MAX, 0, 0}, {INT64_MIN, 5, 0}, {0, 0, 0}, {INT64_MIN, -5, 0}};
    check(keys, 4);
    assert_int_equal(keys[0].second, -5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length_and_order_are_sorted_stably),
        cmocka_unit_test(extreme_times_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
