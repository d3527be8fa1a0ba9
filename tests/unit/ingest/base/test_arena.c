// SPDX-License-Identifier: Apache-2.0
// Allocations that are freed together.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/arena.h"

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct arena arena;
    struct err err;
    arena_init(&arena, &budget);
    unsigned char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        size_t size = i * i % 2000 + (i % 50 == 0 ? 100000 : 1);
        blocks[i] = arena_alloc(&arena, size, &err);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t b = 0; b < size; b++)
            assert_int_equal(blocks[i][b], 0);
        memset(blocks[i], (int)(i % 255) + 1, size);
    }
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(blocks[i][0], (i % 255) + 1);
    arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

static void what_passes_the_budget_fails_with_a_limit(void **state)
{
    (void)state;
    struct budget budget = {.limit = 200000};
    struct arena arena;
    struct err err;
    arena_init(&arena, &budget);
    assert_non_null(arena_alloc(&arena, 100000, &err));
    assert_null(arena_alloc(&arena, 150000, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(arena_alloc(&arena, 10, &err));
    arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

static void a_block_that_grows_keeps_what_is_in_it(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct arena arena;
    struct err err;
    arena_init(&arena, &budget);
    size_t size = 16;
    unsigned char *block = arena_alloc(&arena, size, &err);
    for (size_t longer = 1000; longer < 5000000; longer *= 3) {
        unsigned char *beside = arena_alloc(&arena, 40, &err);
        memset(block, 7, size);
        block = arena_grow(&arena, block, size, longer, &err);
        assert_non_null(block);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(block[i], 7);
        memset(block, 8, longer);
        assert_int_equal(beside[0], 0);
        size = longer;
    }
    assert_true(budget.used < size + size / 8); // no copies were left behind
    budget.limit = budget.used + 1000;
    assert_null(arena_grow(&arena, block, size, 2 * size, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(block[size - 1], 8);
    arena_free(&arena);
    assert_int_equal(budget.used, 0);
}

static void what_an_arena_takes_over_lives_on_in_it(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct err err;
    for (int kept = 0; kept < 2; kept++) { // into an empty arena, and after existing contents
        struct arena arena, other;
        arena_init(&arena, &budget);
        arena_init(&other, &budget);
        char *own = kept ? arena_strdup(&arena, STR("own"), &err) : NULL;
        char *text = arena_strdup(&other, STR("taken"), &err);
        char *large = arena_alloc(&other, 300000, &err);
        uint64_t used = budget.used;
        arena_take(&arena, &other);
        arena_free(&other);
        assert_int_equal(budget.used, used);
        for (int i = 0; i < 1000; i++)
            memset(arena_alloc(&arena, 100, &err), 'x', 100);
        assert_string_equal(text, "taken");
        assert_int_equal(large[299999], 0);
        assert_true(!own || strcmp(own, "own") == 0);
        assert_non_null(arena_alloc(&other, 10, &err)); // as good as new
        arena_free(&other);
        arena_free(&arena);
        assert_int_equal(budget.used, 0);
    }
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    arena_init(&arena, NULL);
    assert_null(arena_array(&arena, SIZE_MAX / 4, 8, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_null(arena_alloc(&arena, SIZE_MAX, &err));
    assert_non_null(arena_array(&arena, 0, 8, &err));
    arena_free(&arena);
}

static void texts_are_copied_and_formatted(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    arena_init(&arena, NULL);
    assert_string_equal(arena_strdup(&arena, (struct str){"abcd", 2}, &err), "ab");
    assert_string_equal(arena_strdup(&arena, (struct str){NULL, 0}, &err), "");
    assert_string_equal(arena_printf(&arena, &err, "%s-%d", "x", 5), "x-5");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(what_passes_the_budget_fails_with_a_limit),
        cmocka_unit_test(a_block_that_grows_keeps_what_is_in_it),
        cmocka_unit_test(what_an_arena_takes_over_lives_on_in_it),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(texts_are_copied_and_formatted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
