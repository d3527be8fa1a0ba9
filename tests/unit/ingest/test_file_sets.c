// SPDX-License-Identifier: Apache-2.0
// Which files are read as one, in which order, and their bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/file_sets.h"
#include "tests/unit/compress.h"

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

static void joined_files_are_separated_by_a_line_end(void **state)
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

static void a_compressed_file_belongs_to_the_set_of_its_name(void **state)
{
    (void)state;
    const struct str names[] = {STR("t.prv.gz"), STR("t.pcf"), STR("t.row")};
    struct file_set_key key;
    size_t in_set[3];
    assert_int_equal(file_set_find(names, 3, 0, in_set), 3);
    assert_int_equal(in_set[2], 0);
    assert_true(file_set_key(names[0], &key));
    assert_string_equal(key.ending, ".prv");
    assert_string_equal(key.coding.at, ".gz");
}

static void a_copy_in_a_compression_does_not_count(void **state)
{
    (void)state;
    const struct str names[] = {STR("d/7_kernel_trace.csv.zst"),
                                STR("d/7_kernel_trace.csv.gz"),
                                STR("d/7_kernel_trace.csv"),
                                STR("d/7_agent_info.csv"),
                                STR("e/7_kernel_trace.csv.gz"),
                                STR("d/7.json.gz"),
                                STR("d/7.json")};
    struct err why = {.pos = ERR_NO_POS};
    size_t in_set[7];
    assert_int_equal(file_set_find(names, 7, 0, in_set), 0);
    assert_int_equal(file_set_find(names, 7, 2, in_set), 2);
    assert_int_equal(in_set[0], 3);
    assert_int_equal(in_set[1], 2);
    assert_int_equal(file_set_find(names, 3, 2, in_set), 0); // alone
    assert_int_equal(file_set_original(names, 7, 0), 2);
    assert_int_equal(file_set_original(names, 7, 1), 2);
    assert_int_equal(file_set_original(names, 2, 0), 1); // .gz rather than .zst
    assert_true(file_set_original(names, 7, 2) == SIZE_MAX);
    assert_true(file_set_original(names, 7, 4) == SIZE_MAX); // another folder
    assert_true(file_set_original(names, 7, 5) == SIZE_MAX); // no set
    file_set_tell_copy(names[2], &why);
    assert_string_equal(why.msg,
                        "a compressed copy of 7_kernel_trace.csv beside it, which is read instead");
}

// Joins plain names and a compressed trace, and reads the whole.
static void check_joined(const struct buf *coded,
                         struct source *(*open)(struct source *below, struct err *err))
{
    struct err err = {.pos = ERR_NO_POS};
    struct buf names = {0};
    size_t got, size = 200000;
    for (size_t i = 0; i < size; i++)
        buf_putc(&names, (char)('a' + i % 26));
    struct source *parts[] = {source_mem_open(names.at, names.len, 0, &err),
                              source_mem_open("", 0, 0, &err),
                              source_mem_open(coded->at, coded->len, 7, &err)};
    struct source *joined = open(file_set_open(parts, 3, &err), &err);
    char *bytes = malloc(size + 100);
    assert_true(source_fill(joined, bytes, size + 100, &got, &err));
    assert_int_equal(got, size + 7);
    assert_memory_equal(bytes, names.at, size);
    assert_memory_equal(bytes + size, "\n\ntrace", 7);
    source_close(joined);
    free(bytes);
    buf_free(&names);
}

static void what_is_plain_beside_compressed_files_is_stored(void **state)
{
    (void)state;
    struct buf gzip = {0}, zstd = {0};
    add_gzip(&gzip, STR("trace"), 6);
    add_zstd(&zstd, STR("trace"));
    check_joined(&gzip, source_gzip_open);
    check_joined(&zstd, source_zstd_open);
    buf_free(&gzip);
    buf_free(&zstd);
}

static void two_compressions_are_no_set(void **state)
{
    (void)state;
    struct err err = {.pos = ERR_NO_POS};
    struct source *parts[] = {source_mem_open("\x1F\x8B..", 4, 0, &err),
                              source_mem_open("\x28\xB5\x2F\xFD", 4, 0, &err)};
    assert_null(file_set_open(parts, 2, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_one_prefix_are_a_set_names_first),
        cmocka_unit_test(names_without_events_are_no_set),
        cmocka_unit_test(files_of_the_same_name_are_no_set),
        cmocka_unit_test(joined_files_are_separated_by_a_line_end),
        cmocka_unit_test(a_compressed_file_belongs_to_the_set_of_its_name),
        cmocka_unit_test(a_copy_in_a_compression_does_not_count),
        cmocka_unit_test(what_is_plain_beside_compressed_files_is_stored),
        cmocka_unit_test(two_compressions_are_no_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
