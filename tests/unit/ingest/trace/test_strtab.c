// SPDX-License-Identifier: Apache-2.0
// Interned texts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "ingest/trace/strtab.h"

static void equal_texts_get_one_id_and_keep_it(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct strtab table;
    struct err err;
    char text[32];
    str_id id;
    assert_true(strtab_init(&table, &budget, &err));
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 1; i <= 50000; i++) {
            int len = snprintf(text, sizeof text, "name %u", i * 7919);
            assert_true(strtab_intern(&table, (struct str){text, (size_t)len}, &id, &err));
            assert_int_equal(id, i);
        }
    assert_string_equal(strtab_get(&table, 50000).at, text);
    assert_int_equal(strtab_find(&table, str_of(text)), 50000);
    assert_int_equal(strtab_find(&table, STR("absent")), 0);
    assert_int_equal(strtab_bytes(&table), budget.used);
    strtab_free(&table);
    assert_int_equal(budget.used, 0);
}

static void the_empty_text_is_0_and_nul_bytes_count(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct strtab table;
    struct err err;
    str_id a, b;
    assert_true(strtab_init(&table, &budget, &err));
    assert_true(strtab_intern(&table, (struct str){NULL, 0}, &a, &err));
    assert_int_equal(a, 0);
    assert_true(strtab_intern(&table, STR("x\0y"), &a, &err));
    assert_true(strtab_intern(&table, STR("x\0z"), &b, &err));
    assert_int_not_equal(a, b);
    assert_int_equal(strtab_get(&table, a).len, 3);
    strtab_free(&table);
}

static void the_longest_text_fits(void **state)
{
    (void)state;
    struct budget budget = {0};
    struct strtab table;
    struct err err;
    str_id id;
    char *text = malloc(STRTAB_MAX_LEN);
    memset(text, 'x', STRTAB_MAX_LEN);
    assert_true(strtab_init(&table, &budget, &err));
    assert_true(strtab_intern(&table, (struct str){text, STRTAB_MAX_LEN}, &id, &err));
    assert_int_equal(strtab_get(&table, id).len, STRTAB_MAX_LEN);
    strtab_free(&table);
    free(text);
}

static void running_out_of_budget_fails_cleanly_at_every_size(void **state)
{
    (void)state;
    for (uint64_t limit = 1000; limit < 2000000; limit += 37777) {
        struct budget budget = {.limit = limit};
        struct strtab table;
        struct err err = {0};
        bool ok = strtab_init(&table, &budget, &err);
        for (uint32_t i = 0; ok && i < 100000; i++) {
            char text[16];
            str_id id;
            int len = snprintf(text, sizeof text, "%u", i);
            ok = strtab_intern(&table, (struct str){text, (size_t)len}, &id, &err);
        }
        assert_false(ok);
        assert_int_equal(err.code, ERR_LIMIT);
        strtab_free(&table);
        assert_int_equal(budget.used, 0);
    }
}

static bool adopt(const char *text, size_t len, const uint64_t *span, uint32_t count)
{
    struct budget budget = {0};
    struct strtab table;
    struct err err;
    char *own_text = budget_alloc(&budget, len, &err);
    uint64_t *own_span = budget_alloc(&budget, count * sizeof *span, &err);
    memcpy(own_text, text, len);
    memcpy(own_span, span, count * sizeof *span);
    struct strtab_parts parts = {own_text, len, own_span, count};
    bool ok = strtab_adopt(&table, &budget, parts, &err);
    if (ok) {
        assert_int_equal(strtab_find(&table, STR("ab")), 1);
        strtab_free(&table);
    } else {
        assert_int_equal(err.code, ERR_FORMAT);
    }
    assert_int_equal(budget.used, 0);
    return ok;
}

static void adopted_texts_are_checked(void **state)
{
    (void)state;
    const uint64_t good[] = {0, (uint64_t)1 << STRTAB_LEN_BITS | 2};
    const uint64_t outside[] = {0, (uint64_t)2 << STRTAB_LEN_BITS | 2};
    const uint64_t unended[] = {0, (uint64_t)1 << STRTAB_LEN_BITS | 1};
    const uint64_t far_away[] = {0, UINT64_MAX};
    const uint64_t not_empty[] = {(uint64_t)1 << STRTAB_LEN_BITS | 2};
    assert_true(adopt("\0ab", 4, good, 2));
    assert_false(adopt("\0ab", 4, outside, 2));
    assert_false(adopt("\0ab", 4, unended, 2));
    assert_false(adopt("\0ab", 4, far_away, 2));
    assert_false(adopt("\0ab", 4, not_empty, 1));
    assert_false(adopt("\0ab", 4, good, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_get_one_id_and_keep_it),
        cmocka_unit_test(the_empty_text_is_0_and_nul_bytes_count),
        cmocka_unit_test(the_longest_text_fits),
        cmocka_unit_test(running_out_of_budget_fails_cleanly_at_every_size),
        cmocka_unit_test(adopted_texts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
