// SPDX-License-Identifier: Apache-2.0
// Looking up texts in an indexed name finds the same as a simple search.
#include "ingest/base/name_index.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

static size_t plain_find(const char *name, size_t len, struct str text, size_t from)
{
    for (size_t i = from; i + text.len <= len; i++)
        if (str_equal_nocase((struct str){name + i, text.len}, text))
            return i;
    return SIZE_MAX;
}

static void a_text_is_found_in_any_case_where_it_first_stands(void **state)
{
    (void)state;
    struct name_index index;
    name_index_make(&index, STR("void ncclDevKernel_AllReduce_allreduce"));
    assert_int_equal(name_index_find(&index, STR("nccl"), 0), 5);
    assert_int_equal(name_index_find(&index, STR("nccl"), 5), 5);
    assert_int_equal(name_index_find(&index, STR("nccl"), 6), SIZE_MAX);
    assert_int_equal(name_index_find(&index, STR("allreduce"), 0), 19);
    assert_int_equal(name_index_find(&index, STR("allreduce"), 20), 29);
    assert_int_equal(name_index_find(&index, STR("allreduces"), 0), SIZE_MAX);
}

static void short_names_hold_nothing(void **state)
{
    (void)state;
    struct name_index index;
    name_index_make(&index, STR(""));
    assert_int_equal(name_index_find(&index, STR("ab"), 0), SIZE_MAX);
    name_index_make(&index, STR("a"));
    assert_int_equal(name_index_find(&index, STR("ab"), 0), SIZE_MAX);
    name_index_make(&index, STR("AB"));
    assert_int_equal(name_index_find(&index, STR("ab"), 0), 0);
}

static void any_name_gives_what_a_plain_search_gives(void **state)
{
    (void)state;
    static const struct str texts[] = {{"ab", 2}, {"ba", 2}, {"aa", 2}, {"abab", 4}, {"b_a", 3}};
    static char name[NAME_INDEX_MAX + 100];
    struct name_index index;
    srand(3);
    for (int round = 0; round < 200; round++) {
        size_t len = (size_t)rand() % sizeof name;
        for (size_t i = 0; i < len; i++)
            name[i] = "abAB_!\xC1\xFF"[rand() % 8];
        size_t known = len < NAME_INDEX_MAX ? len : NAME_INDEX_MAX;
        name_index_make(&index, (struct str){name, len});
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (size_t from = 0; from <= len; from = from * 2 + 1)
                assert_int_equal(name_index_find(&index, texts[t], from),
                                 plain_find(name, known, texts[t], from));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_found_in_any_case_where_it_first_stands),
        cmocka_unit_test(short_names_hold_nothing),
        cmocka_unit_test(any_name_gives_what_a_plain_search_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
