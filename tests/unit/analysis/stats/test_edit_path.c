// SPDX-License-Identifier: Apache-2.0
// Longest common subsequences against the full table of lengths.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/stats/edit_path.h"

#define MAX 40

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    return z ^ z >> 27;
}

static uint32_t longest(struct edit_symbols a, struct edit_symbols b)
{
    uint32_t best[MAX + 1][MAX + 1] = {0};
    for (uint32_t i = 1; i <= a.count; i++)
        for (uint32_t j = 1; j <= b.count; j++) {
            uint32_t without = best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] : best[i][j - 1];
            best[i][j] = a.at[i - 1] == b.at[j - 1] ? best[i - 1][j - 1] + 1 : without;
        }
    return best[a.count][b.count];
}

static uint32_t check_pairs(struct edit_symbols a, struct edit_symbols b, const uint32_t *pairs)
{
    uint32_t count = 0, next = 0;
    for (uint32_t i = 0; i < a.count; i++) {
        if (pairs[i] == EDIT_PATH_NONE)
            continue;
        assert_true(pairs[i] >= next && pairs[i] < b.count);
        assert_int_equal(a.at[i], b.at[pairs[i]]);
        next = pairs[i] + 1;
        count++;
    }
    return count;
}

static void random_sequences_are_paired_as_long_as_can_be(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 3000; round++) {
        uint64_t texts[2][MAX];
        uint32_t pairs[MAX], counts[2], kinds = 1 + (uint32_t)(next_random(&random) % 4);
        for (int s = 0; s < 2; s++) {
            counts[s] = (uint32_t)(next_random(&random) % (MAX + 1));
            for (uint32_t i = 0; i < counts[s]; i++)
                texts[s][i] = next_random(&random) % kinds;
        }
        struct edit_symbols a = {texts[0], counts[0]}, b = {texts[1], counts[1]};
        struct arena arena;
        struct err err = {0};
        bool found;
        arena_init(&arena, NULL);
        assert_true(edit_path_find(a, b, pairs, &arena, &found, &err));
        assert_true(found);
        assert_int_equal(check_pairs(a, b, pairs), longest(a, b));
        arena_free(&arena);
    }
}

static void too_many_edits_are_not_looked_for(void **state)
{
    (void)state;
    static uint64_t a[2 * EDIT_PATH_MAX], b[2 * EDIT_PATH_MAX];
    static uint32_t pairs[2 * EDIT_PATH_MAX];
    for (uint32_t i = 0; i < 2 * EDIT_PATH_MAX; i++) {
        a[i] = i;
        b[i] = 10 * EDIT_PATH_MAX + i;
    }
    struct arena arena;
    struct err err = {0};
    bool found = true;
    arena_init(&arena, NULL);
    assert_true(edit_path_find((struct edit_symbols){a, 2 * EDIT_PATH_MAX},
                               (struct edit_symbols){b, 2 * EDIT_PATH_MAX}, pairs, &arena, &found,
                               &err));
    assert_false(found);
    assert_int_equal(pairs[5], EDIT_PATH_NONE);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences_are_paired_as_long_as_can_be),
        cmocka_unit_test(too_many_edits_are_not_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
