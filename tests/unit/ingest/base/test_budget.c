// SPDX-License-Identifier: Apache-2.0
// Counted memory, on one thread and on many.
#include <setjmp.h>
#include <pthread.h>
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

struct spender {
    struct budget *budget;
    unsigned refused;
};

static void *spend(void *context)
{
    struct spender *spender = context;
    for (int i = 0; i < 2000; i++) {
        struct err err;
        char *block = budget_alloc(spender->budget, 30, &err);
        spender->refused += !block;
        if (!block)
            continue;
        block[29] = 'x';
        char *grown = budget_realloc(spender->budget, block, 30, 60, &err);
        spender->refused += !grown;
        budget_free(spender->budget, grown ? grown : block, grown ? 60 : 30);
    }
    return NULL;
}

static void many_threads_share_a_budget_and_never_pass_its_limit(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct budget wide = {.limit = THREADS * 60}, tight = {.limit = 100};
    struct spender rich[THREADS], poor[THREADS];
    pthread_t threads[2 * THREADS];
    for (int i = 0; i < THREADS; i++) {
        rich[i] = (struct spender){.budget = &wide};
        poor[i] = (struct spender){.budget = &tight};
        assert_int_equal(pthread_create(&threads[2 * i], NULL, spend, &rich[i]), 0);
        assert_int_equal(pthread_create(&threads[2 * i + 1], NULL, spend, &poor[i]), 0);
    }
    for (int i = 0; i < 2 * THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(rich[i].refused, 0);
    assert_int_equal(wide.used, 0);
    assert_in_range(wide.peak, 60, THREADS * 60);
    assert_int_equal(tight.used, 0);
    assert_in_range(tight.peak, 60, 100);
}

static void an_array_grows_and_keeps_its_items_until_the_limit(void **state)
{
    (void)state;
    struct budget budget = {.limit = 4096};
    struct err err;
    int64_t *items = NULL;
    size_t cap = 0, count = 0, moves = 0;
    while (true) {
        size_t before = cap;
        int64_t *grown = budget_room(&budget, items, &cap, count + 1, sizeof *items, &err);
        if (!grown)
            break;
        moves += cap != before;
        items = grown;
        items[count] = (int64_t)count;
        count++;
        assert_int_equal(budget.used, cap * sizeof *items);
    }
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(count, cap);
    assert_in_range(moves, 1, 8);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(items[i], i);
    assert_int_equal(budget.used, cap * sizeof *items);
    budget_free(&budget, items, cap * sizeof *items);
    assert_int_equal(budget.used, 0);
}

static void an_array_has_room_for_all_that_is_asked_for(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    size_t cap = 0;
    char *items = budget_room(&budget, NULL, &cap, 0, 1, &err);
    assert_non_null(items);
    assert_ptr_equal(budget_room(&budget, items, &cap, cap, 1, &err), items);
    items = budget_room(&budget, items, &cap, 1000, 1, &err);
    assert_non_null(items);
    assert_true(cap >= 1000);
    budget_free(&budget, items, cap);
    assert_int_equal(budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_and_peak_follow_every_block),
        cmocka_unit_test(the_limit_holds_to_the_byte_and_a_refused_block_stays_valid),
        cmocka_unit_test(many_threads_share_a_budget_and_never_pass_its_limit),
        cmocka_unit_test(an_array_grows_and_keeps_its_items_until_the_limit),
        cmocka_unit_test(an_array_has_room_for_all_that_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
