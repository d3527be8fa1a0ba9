// SPDX-License-Identifier: Apache-2.0
// Distinct records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/trace/record_set.h"

struct record {
    uint64_t a, b;
};

static void equal_records_get_one_index_in_order_of_arrival(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct record_set set;
    struct err err;
    uint32_t index;
    record_set_init(&set, sizeof(struct record), &budget);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            struct record record = {i / 3, (uint64_t)i << 40};
            assert_true(record_set_add(&set, &record, &index, &err));
            assert_int_equal(index, i);
        }
    struct record present = {4000, (uint64_t)12000 << 40}, absent = {1, 2};
    assert_true(record_set_find(&set, &present, &index));
    assert_int_equal(index, 12000);
    assert_false(record_set_find(&set, &absent, &index));
    void *items;
    assert_true(record_set_take(&set, &items, &err));
    assert_int_equal(((struct record *)items)[19999].b, (uint64_t)19999 << 40);
    assert_int_equal(budget.used, 20000 * sizeof(struct record));
    budget_free(&budget, items, 20000 * sizeof(struct record));
    record_set_free(&set);
    assert_int_equal(budget.used, 0);
}

static void an_empty_set_finds_and_gives_nothing(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct record_set set;
    struct err err;
    struct record record = {0};
    uint32_t index;
    void *items;
    record_set_init(&set, sizeof(struct record), &budget);
    assert_false(record_set_find(&set, &record, &index));
    assert_true(record_set_take(&set, &items, &err));
    assert_null(items);
    assert_int_equal(budget.used, 0);
}

static void running_out_of_budget_fails_cleanly(void **state)
{
    (void)state;
    for (uint64_t limit = 0; limit < 40000; limit += 777) {
        struct budget budget = {.limit = limit + 1};
        struct record_set set;
        struct err err = {0};
        uint32_t index;
        bool ok = true;
        record_set_init(&set, sizeof(struct record), &budget);
        for (uint64_t i = 0; ok && i < 5000; i++)
            ok = record_set_add(&set, &(struct record){i, i}, &index, &err);
        assert_int_equal(err.code, ERR_LIMIT);
        record_set_free(&set);
        assert_int_equal(budget.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_records_get_one_index_in_order_of_arrival),
        cmocka_unit_test(an_empty_set_finds_and_gives_nothing),
        cmocka_unit_test(running_out_of_budget_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
