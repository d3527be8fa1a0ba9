// SPDX-License-Identifier: Apache-2.0
// Counted memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/budget.h"

static void used_and_peak_follow_every_block(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    char *a = budget_alloc(&budget, 1000, &err);
    char *b = budget_alloc(&budget, 500, &err);
    a[999] = 'x';
    a = budget_realloc(&budget, a, 1000, 3000, &err);
    assert_int_equal(a[999], 'x');
    assert_int_equal(budget.used, 3500);
    a = budget_realloc(&budget, a, 3000, 10, &err);
    assert_int_equal(budget.used, 510);
    assert_int_equal(budget.peak, 3500);
    budget_free(&budget, a, 10);
    budget_free(&budget, b, 500);
    budget_free(&budget, NULL, 77);
    assert_int_equal(budget.used, 0);
}

static void the_limit_holds_to_the_byte_and_a_refused_block_stays_valid(void **state)
{
    (void)state;
    struct budget budget = {.limit = 100};
    struct err err;
    char *block = budget_alloc(&budget, 60, &err);
    block[59] = 'x';
    assert_null(budget_realloc(&budget, block, 60, 101, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_null(budget_alloc(&budget, SIZE_MAX, &err));
    assert_int_equal(block[59], 'x');
    block = budget_realloc(&budget, block, 60, 100, &err);
    assert_non_null(block);
    budget_free(&budget, block, 100);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_and_peak_follow_every_block),
        cmocka_unit_test(the_limit_holds_to_the_byte_and_a_refused_block_stays_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
