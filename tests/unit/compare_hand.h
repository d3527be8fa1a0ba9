// SPDX-License-Identifier: Apache-2.0
// Handmade runs, table by table, for tests of comparisons.
#ifndef TESTS_UNIT_COMPARE_HAND_H
#define TESTS_UNIT_COMPARE_HAND_H

#include "analysis/compare/compare.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define HAND_RUNS 16

// A cell of a row; text takes precedence over f, f over i.
struct field {
    const char *name;
    int64_t i;
    double f;
    const char *text;
};

// All runs of one test, its sides and the results.
struct bench {
    struct arena arena;
    struct report runs[HAND_RUNS], ranks[HAND_RUNS];
    struct compare_run handles[HAND_RUNS];
    size_t count;
    struct compare_side sides[4];
    size_t side_count;
    struct compare_options options;
    struct report report;
    struct err err;
};

static inline void bench_begin(struct bench *bench)
{
    *bench = (struct bench){.options = {.limits = verdict_default_limits()}};
    arena_init(&bench->arena, NULL);
    bench->report.arena = &bench->arena;
}

static inline void bench_end(struct bench *bench)
{
    arena_free(&bench->arena);
}

// Adds a row; cells not given are null. fields end with a name of NULL.
static inline void bench_row(struct report *report, const struct table_desc *desc,
                             const struct field *fields)
{
    struct cell cells[TABLE_MAX_COLUMNS];
    struct err err;
    for (unsigned c = 0; c < desc->column_count; c++)
        cells[c] = cell_null();
    for (; fields->name; fields++) {
        int c = table_column(desc, str_of(fields->name));
        assert_true(c >= 0);
        cells[c] = fields->text                          ? cell_text(str_of(fields->text))
                   : desc->columns[c].type == COLUMN_F64 ? cell_f64(fields->f)
                                                         : cell_i64(fields->i);
    }
    assert_true(report_add(report, desc, cells, &err));
}

#define ROW(report, desc, ...) \
    bench_row(report, desc, (const struct field[]){__VA_ARGS__, {.name = NULL}})

// A part of a run and its time over all steady steps.
struct hand_part {
    const char *bar, *category, *op, *dims, *module, *kernel;
    int64_t calls, ns;
};

static inline struct report *bench_rank(struct bench *bench)
{
    return &bench->ranks[bench->count - 1];
}

static inline struct report *bench_run(struct bench *bench)
{
    return &bench->runs[bench->count - 1];
}

static inline void bench_part(struct bench *bench, struct hand_part part)
{
    const struct field all[] = {
        {"bar", .text = part.bar},
        {"category", .text = part.category},
        {"calls", .i = part.calls},
        {"owned_ns", .i = part.ns},
        {"op", .text = part.op},
        {"dims", .text = part.dims},
        {"module", .text = part.module},
        {"kernel", .text = part.kernel},
        {"types", .text = part.dims ? "[\"float\"]" : NULL},
    };
    struct field known[10] = {{.name = NULL}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].text || i == 2 || i == 3)
            known[count++] = all[i];
    bench_row(bench_rank(bench), &table_parts, known);
}

static inline int64_t bench_sum(const struct report *rank, const char *bar)
{
    const struct table *parts = report_find(rank, "parts");
    int64_t sum = 0;
    for (size_t i = 0; parts && i < parts->row_count; i++)
        if (str_equal(named_cell(parts, i, "bar")->s, str_of(bar)))
            sum += named_cell(parts, i, "owned_ns")->i;
    return sum;
}

// Completes a run: its steps, the breakdown its parts sum to, its median step.
static inline void bench_steps(struct bench *bench, int64_t steps, int64_t median_ns)
{
    struct report *rank = bench_rank(bench);
    ROW(rank, &table_breakdown, {"scope", .text = "steady"}, {"steps", .i = steps},
        {"gemm_ns", .i = bench_sum(rank, "gemm")},
        {"attention_ns", .i = bench_sum(rank, "attention")},
        {"other_compute_ns", .i = bench_sum(rank, "other_compute")},
        {"exposed_comm_ns", .i = bench_sum(rank, "exposed_comm")},
        {"exposed_memory_ns", .i = bench_sum(rank, "exposed_memory")},
        {"idle_host_wait_ns", .i = bench_sum(rank, "idle_host_wait")},
        {"idle_other_ns", .i = bench_sum(rank, "idle_other")},
        {"unrecorded_ns", .i = bench_sum(rank, "unrecorded")}, {"total_comm_ns", .i = 0},
        {"total_memory_ns", .i = 0});
    ROW(rank, &table_summary, {"step_median_ns", .i = median_ns}, {"step_count", .i = steps},
        {"steady_steps", .i = steps});
}

// Starts a run without tables.
static inline void bench_add(struct bench *bench)
{
    static const char *const names[HAND_RUNS] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7",
                                                 "r8", "r9", "ra", "rb", "rc", "rd", "re", "rf"};
    size_t i = bench->count++;
    assert_true(i < HAND_RUNS);
    bench->runs[i].arena = bench->ranks[i].arena = &bench->arena;
    bench->handles[i] = (struct compare_run){.id = str_of(names[i]),
                                             .name = str_of(names[i]),
                                             .run = &bench->runs[i],
                                             .rank = &bench->ranks[i]};
}

// Makes the newest runs a side.
static inline void bench_side(struct bench *bench, size_t runs)
{
    bench->sides[bench->side_count++] =
        (struct compare_side){.runs = bench->handles + bench->count - runs, .run_count = runs};
}

static inline bool bench_try(struct bench *bench)
{
    return analyze_compare(&bench->sides[0], &bench->sides[1], bench->side_count - 1,
                           &bench->options, &bench->report, &bench->err);
}

static inline const struct table *bench_table(const struct bench *bench, const char *name)
{
    const struct table *table = report_find(&bench->report, name);
    assert_non_null(table);
    return table;
}

// Every level sums to the means, and the rows below each row sum to it.
static inline void bench_check_sums(const struct bench *bench)
{
    static const char *const levels[] = {"bar", "category", "op", "shape", "kernel"};
    static const char *const columns[] = {"base_ns",       "cand_ns",    "base_total_ns",
                                          "cand_total_ns", "base_calls", "cand_calls"};
    const struct table *fall = bench_table(bench, "compare_waterfall");
    const struct table *summary = bench_table(bench, "compare_summary");
    int64_t *below = test_calloc(fall->row_count + 1, sizeof *below);
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
        int64_t sum = 0;
        for (size_t i = 0; i < fall->row_count; i++)
            if (str_equal(named_cell(fall, i, "level")->s, str_of(levels[l])))
                sum += named_cell(fall, i, "delta_ns")->i;
        int64_t expected = 0;
        for (size_t i = 0; i < summary->row_count; i++)
            expected += named_cell(summary, i, "delta_mean_ns")->i;
        assert_int_equal(sum, expected);
    }
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        memset(below, 0, (fall->row_count + 1) * sizeof *below);
        for (size_t i = 0; i < fall->row_count; i++) {
            const struct cell *parent = named_cell(fall, i, "parent");
            assert_int_equal(named_cell(fall, i, "id")->i, i + 1);
            if (!parent->null)
                below[parent->i] += named_cell(fall, i, columns[c])->i;
        }
        for (size_t i = 0; i < fall->row_count; i++)
            if (!str_equal(named_cell(fall, i, "level")->s, STR("kernel")))
                assert_int_equal(below[i + 1], named_cell(fall, i, columns[c])->i);
    }
    test_free(below);
}

static inline void bench_compare(struct bench *bench)
{
    if (!bench_try(bench))
        fail_msg("%s", bench->err.msg);
    bench_check_sums(bench);
}

// The first row of a level with that text in the column (NULL: null).
static inline size_t bench_find(const struct bench *bench, const char *level, const char *column,
                                const char *text)
{
    const struct table *fall = bench_table(bench, "compare_waterfall");
    for (size_t i = 0; i < fall->row_count; i++) {
        const struct cell *cell = named_cell(fall, i, column);
        bool same = text ? !cell->null && str_equal(cell->s, str_of(text)) : cell->null;
        if (same && str_equal(named_cell(fall, i, "level")->s, str_of(level)))
            return i;
    }
    fail_msg("no row of level %s with %s = %s", level, column, text ? text : "null");
    return 0;
}

static inline const struct cell *bench_cell(const struct bench *bench, const char *table,
                                            size_t row, const char *column)
{
    const struct table *found = bench_table(bench, table);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static inline int64_t bench_i64(const struct bench *bench, const char *table, size_t row,
                                const char *column)
{
    const struct cell *cell = bench_cell(bench, table, row, column);
    assert_false(cell->null);
    return cell->i;
}

static inline double bench_f64(const struct bench *bench, const char *table, size_t row,
                               const char *column)
{
    const struct cell *cell = bench_cell(bench, table, row, column);
    assert_false(cell->null);
    return cell->f;
}

static inline bool bench_says(const struct bench *bench, const char *table, size_t row,
                              const char *column, const char *text)
{
    const struct cell *cell = bench_cell(bench, table, row, column);
    return text ? !cell->null && str_equal(cell->s, str_of(text)) : cell->null;
}

#endif
