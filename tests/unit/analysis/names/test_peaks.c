// SPDX-License-Identifier: Apache-2.0
// The table of peaks: built-in values, how devices are found, what is refused in a user's file.
#include "analysis/names/peaks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GIB    ((int64_t)1 << 30)
#define HEADER "device\tmemory_gib\tfp4\tfp8\tint8\tbf16\tfp16\ttf32\tfp32\tfp64\ttbps\tsource\n"

struct table {
    struct arena arena;
    struct peaks peaks;
    struct err err;
};

static bool parse(struct table *table, struct str text)
{
    *table = (struct table){.err = {.pos = ERR_NO_POS}};
    arena_init(&table->arena, NULL);
    return peaks_parse(text, &table->arena, &table->peaks, &table->err);
}

struct expected {
    const char *name;
    int64_t memory_bytes;
    double bf16, tbps;
};

static void devices_are_found_by_what_their_names_begin_with(void **state)
{
    (void)state;
    static const struct expected devices[] = {
        {"NVIDIA H100 80GB HBM3", 85018279936, 989, 3.35},
        {"NVIDIA H100 PCIe", 80 * GIB, 756, 2.0},
        {"NVIDIA H200", 141 * GIB, 989, 4.8},
        {"NVIDIA H20", 96 * GIB, 148, 4.0},
        {"NVIDIA H20-3e", 141 * GIB, 148, 4.8},
        {"NVIDIA B200", 180 * GIB, 2250, 8.0},
        {"NVIDIA A100-PG509-200", 42297524224, 312, 1.555},
        {"NVIDIA A100-SXM4-80GB", 85 * GIB / 100 * 94, 312, 2.039},
        {"A100-SXM4-40GB", 42297524224, 312, 1.555},
        {"NVIDIA A100 80GB PCIe", 80 * GIB, 312, 1.935},
        {"NVIDIA L40S", 48 * GIB, 362, 0.864},
        {"NVIDIA L4", 24 * GIB, 121, 0.3},
        {"AMD Instinct MI300X VF", 205571227648, 1307, 5.3},
        {"AMD Instinct MI325X", 0, 1307, 6.0},
        {"AMD Instinct MI250X", 0, 191, 1.6},
        {"AMD Instinct MI210 or MI250", 0, 181, 1.6},
        {"AMD Instinct MI350X or MI355X", 0, 0, 8.0},
        {"AMD Instinct MI355X", 0, 2500, 8.0},
    };
    struct table table;
    assert_true(parse(&table, peaks_builtin));
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        const struct peak *peak =
            peaks_find(&table.peaks, str_of(devices[i].name), devices[i].memory_bytes);
        if (!peak || peak->tflops[PRECISION_BF16] != devices[i].bf16 ||
            peak->tbps != devices[i].tbps)
            fail_msg("%s: %s", devices[i].name, peak ? "another device's figures" : "not found");
    }
    const struct peak *v100 = peaks_find(&table.peaks, STR("Tesla V100-SXM2-32GB"), 32 * GIB);
    assert_true(v100->tflops[PRECISION_FP16] == 125 && v100->tflops[PRECISION_BF16] == 0);
    arena_free(&table.arena);
}

static void devices_that_nobody_listed_are_not_found(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "NVIDIA ",
                                        "NVIDIA H1000",
                                        "AMD Radeon Graphics",
                                        "NVIDIA A100-SXM4-64GB",
                                        "NVIDIA H100 64GB HBM2", // its figures are not published
                                        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                                        "AMD Instinct MI300X partition of 38 compute units",
                                        "AMD Instinct MI300"};
    struct table table;
    assert_true(parse(&table, peaks_builtin));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (peaks_find(&table.peaks, str_of(names[i]), 64 * GIB))
            fail_msg("%s was found", names[i]);
    arena_free(&table.arena);
}

static void a_part_of_a_device_is_found_by_a_row_that_names_it(void **state)
{
    (void)state;
    struct table table;
    assert_true(parse(&table, STR(HEADER "H100\t-\t-\t-\t-\t989\t-\t-\t-\t-\t3.35\tours\n"
                                         "H100 80GB HBM3 MIG 1g.10gb\t-\t-\t-\t-\t120\t-\t-\t-\t-\t"
                                         "0.42\tours\n")));
    const struct peak *peak =
        peaks_find(&table.peaks, STR("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), 10468982784);
    assert_non_null(peak);
    assert_true(peak->tflops[PRECISION_BF16] == 120);
    assert_null(peaks_find(&table.peaks, STR("NVIDIA H100 80GB HBM3 MIG 3g.40gb"), 0));
    arena_free(&table.arena);
}

static void every_row_built_in_names_its_source(void **state)
{
    (void)state;
    struct table table;
    assert_true(parse(&table, peaks_builtin));
    assert_true(table.peaks.count >= 20);
    for (size_t i = 0; i < table.peaks.count; i++) { // or nothing: no other row's figures apply
        const struct peak *row = &table.peaks.rows[i];
        assert_true(row->tbps > 0 || row->tflops[PRECISION_FP16] == 0);
    }
    assert_int_not_equal(str_find(peaks_builtin, STR("data sheet")), SIZE_MAX);
    arena_free(&table.arena);
}

static void comments_and_empty_lines_are_passed_over(void **state)
{
    (void)state;
    struct table table;
    assert_true(parse(&table, STR("# ours\n\n" HEADER
                                  "Chip 1\t-\t-\t-\t-\t10.5\t-\t-\t-\t-\t0.5\tmeasured\r\n")));
    assert_int_equal(table.peaks.count, 1);
    const struct peak *peak = peaks_find(&table.peaks, STR("Chip 1 rev B"), 0);
    assert_non_null(peak);
    assert_true(peak->tflops[PRECISION_BF16] == 10.5 && peak->tflops[PRECISION_FP8] == 0);
    arena_free(&table.arena);
}

static void faults_are_reported_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"", "expected a header line with the column names"},
        {"device\ttbps\n", "line 1: expected 12 columns separated by tabs, found 2"},
        {"device\tmemory\tfp4\tfp8\tint8\tbf16\tfp16\ttf32\tfp32\tfp64\ttbps\tsource\n",
         "line 1: expected the column 'memory_gib', found 'memory'"},
        {HEADER "# x\nChip\t-\t-\t-\t-\tmany\t-\t-\t-\t-\t1\ts\n",
         "line 3: bf16: expected a positive number or '-', found 'many'"},
        {HEADER "Chip\t-\t-\t-\t-\t-1\t-\t-\t-\t-\t1\ts\n",
         "line 2: bf16: expected a positive number or '-', found '-1'"},
        {HEADER "Chip\t-\t-\t-\t-\t1e3\t-\t-\t-\t-\t1\ts\n",
         "line 2: bf16: expected a positive number or '-', found '1e3'"},
        {HEADER "Chip\t1.5\t-\t-\t-\t1\t-\t-\t-\t-\t1\ts\n",
         "line 2: memory_gib: expected a positive number or '-', found '1.5'"},
        {HEADER "\t-\t-\t-\t-\t1\t-\t-\t-\t-\t1\ts\n", "line 2: expected a device name"},
        {HEADER "Chip\t-\t1\n", "line 2: expected 12 columns separated by tabs, found 3"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct table table;
        assert_false(parse(&table, str_of(faults[i].text)));
        assert_string_equal(table.err.msg, faults[i].message);
        arena_free(&table.arena);
    }
}

static void files_are_read_and_named_in_faults(void **state)
{
    (void)state;
    char path[] = "/tmp/test_peaks_XXXXXX";
    int fd = mkstemp(path);
    struct arena arena;
    struct peaks peaks;
    struct err err = {.pos = ERR_NO_POS};
    static const char text[] = HEADER "Chip\t-\t-\n";
    arena_init(&arena, NULL);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    assert_false(peaks_read(path, &arena, &peaks, &err));
    assert_non_null(strstr(err.msg, path));
    assert_non_null(strstr(err.msg, "line 2"));
    unlink(path);
    assert_false(peaks_read(path, &arena, &peaks, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_true(peaks_read("analysis/names/peaks.tsv", &arena, &peaks, &err));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_found_by_what_their_names_begin_with),
        cmocka_unit_test(devices_that_nobody_listed_are_not_found),
        cmocka_unit_test(a_part_of_a_device_is_found_by_a_row_that_names_it),
        cmocka_unit_test(every_row_built_in_names_its_source),
        cmocka_unit_test(comments_and_empty_lines_are_passed_over),
        cmocka_unit_test(faults_are_reported_with_their_line),
        cmocka_unit_test(files_are_read_and_named_in_faults),
    };
    return cmocka_run_group_tests_name("peaks", tests, NULL, NULL);
}
