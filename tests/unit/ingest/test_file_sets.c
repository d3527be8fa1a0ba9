// SPDX-License-Identifier: Apache-2.0
// Which files are read as one, in which order, and their bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/file_sets.h"

static void files_of_one_prefix_are_a_set_names_first(void **state)
{
    (void)state;
    const struct str names[] = {STR("a/9_kernel_trace.csv"), STR("x.json"),
                                STR("b/9_kernel_trace.csv"), STR("a/9_agent_info.csv"),
                                STR("a/9_hip_api_trace.csv")};
    size_t in_set[5];
    assert_int_equal(file_set_find(names, 5, 0, in_set), 3);
    assert_int_equal(in_set[0], 3);
    assert_int_equal(in_set[1], 0);
    assert_int_equal(in_set[2], 4);
    assert_int_equal(file_set_find(names, 5, 3, in_set), 0); // read with the first
    assert_int_equal(file_set_find(names, 5, 1, in_set), 0);
    assert_int_equal(file_set_find(names, 5, 2, in_set), 0); // alone
}

static void names_without_events_are_no_set(void **state)
{
    (void)state;
    const struct str names[] = {STR("t.pcf"), STR("t.row"), STR("t.prv")};
    size_t in_set[3];
    assert_int_equal(file_set_find(names, 2, 0, in_set), 0);
    assert_int_equal(file_set_find(names, 3, 0, in_set), 3);
}

static void files_of_the_same_name_are_no_set(void **state)
{
    (void)state;
    const struct str names[] = {STR("out_kernel_trace.csv"), STR("out_agent_info.csv"),
                                STR("out_kernel_trace.csv")};
    size_t in_set[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(file_set_find(names, 3, i, in_set), 0);
    assert_int_equal(file_set_find(names, 2, 0, in_set), 2);
}

static void joined_files_are_parted_by_a_line_end(void **state)
{
    (void)state;
    struct err err = {.pos = ERR_NO_POS};
    char bytes[32];
    size_t got;
    struct source *parts[] = {source_mem_open("a,b", 3, 2, &err), source_mem_open("", 0, 0, &err),
                              source_mem_open("c\n", 2, 0, &err)};
    struct source *joined = file_set_open(parts, 3, &err);
    assert_true(source_fill(joined, bytes, sizeof bytes, &got, &err));
    assert_int_equal(got, 7);
    assert_memory_equal(bytes, "a,b\n\nc\n", 7);
    source_close(joined);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_one_prefix_are_a_set_names_first),
        cmocka_unit_test(names_without_events_are_no_set),
        cmocka_unit_test(files_of_the_same_name_are_no_set),
        cmocka_unit_test(joined_files_are_parted_by_a_line_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
