// SPDX-License-Identifier: Apache-2.0
// Any bytes that read as a trace go through all analyses, a run of two ranks and a comparison
// without harm, and every breakdown sums to its window.
#include "analysis/run/analysis_json.h"
#include "ingest/ingest.h"

#include "analysis/analysis.h"
#include "analysis/compare/compare.h"
#include "analysis/names/parts.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT ((uint64_t)64 << 20)

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_parts(const struct report *report, const struct table_desc *desc, unsigned times)
{
    const struct table *table = report_find(report, desc->name);
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct parts parts = parts_read(table, i, times);
        check(parts_window_ns(&parts) == named_cell(table, i, "window_ns")->i);
        check(parts.total_comm_ns >= parts.bar_ns[BAR_EXPOSED_COMM]);
        for (int b = 0; b < BAR_COUNT; b++)
            check(parts.bar_ns[b] >= 0);
    }
}

static void check_kernels(const struct report *report)
{
    const struct table *kernels = report_find(report, "kernels");
    const struct table *breakdown = report_find(report, "breakdown");
    int64_t owned_ns = 0;
    for (size_t i = 0; kernels && i < kernels->row_count; i++)
        owned_ns += named_cell(kernels, i, "owned_ns")->i;
    check(!kernels || owned_ns == named_cell(breakdown, 0, "busy_ns")->i);
}

// Live memory sums to the peak, and copies own the exposed memory time.
static void check_memory(const struct report *report)
{
    const struct table *memory = report_find(report, "memory");
    const struct table *peaks = report_find(report, "memory_peak");
    int64_t bytes = 0;
    for (size_t i = 0; memory && i < memory->row_count; i++)
        bytes =
            (int64_t)((uint64_t)bytes + (uint64_t)named_cell(memory, i, "peak_allocated_bytes")->i);
    for (size_t i = 0; peaks && i < peaks->row_count; i++)
        bytes = (int64_t)((uint64_t)bytes - (uint64_t)named_cell(peaks, i, "bytes")->i);
    check(bytes == 0);
    const struct table *copies = report_find(report, "copies");
    const struct table *breakdown = report_find(report, "breakdown");
    int64_t owned_ns = 0;
    for (size_t i = 0; copies && i < copies->row_count; i++)
        owned_ns += named_cell(copies, i, "exposed_ns")->i;
    check(!copies || owned_ns == named_cell(breakdown, 0, "exposed_memory_ns")->i);
}

static int64_t sum_of(const struct table *table, const char *level, const char *column)
{
    int64_t sum = 0;
    for (size_t i = 0; i < table->row_count; i++)
        if (str_equal(named_cell(table, i, "level")->s, str_of(level)))
            sum += named_cell(table, i, column)->i;
    return sum;
}

static void compare_with_itself(const struct report *run, const struct report *rank,
                                struct arena *arena)
{
    struct report report = {.arena = arena};
    struct err err;
    const struct compare_run one = {.run = run, .rank = rank};
    const struct compare_side side = {.runs = &one, .run_count = 1};
    const struct compare_options options = {.limits = {0.05, 0.002, 1e5}};
    if (!analyze_compare(&side, &side, 1, &options, &report, &err))
        return;
    const struct table *fall = report_find(&report, "compare_waterfall");
    const struct table *summary = report_find(&report, "compare_summary");
    int64_t mean_ns = named_cell(summary, 0, "base_mean_ns")->i;
    check(sum_of(fall, "bar", "base_ns") == mean_ns);
    check(sum_of(fall, "category", "base_ns") == mean_ns);
    check(sum_of(fall, "op", "base_ns") == mean_ns);
    check(sum_of(fall, "shape", "cand_ns") == mean_ns);
    check(sum_of(fall, "kernel", "cand_ns") == mean_ns);
    for (size_t i = 0; i < fall->row_count; i++)
        check(named_cell(fall, i, "delta_ns")->i == 0);
    const struct table *modules = report_find(&report, "compare_modules");
    for (size_t i = 0; modules && i < modules->row_count; i++)
        check(named_cell(modules, i, "delta_ns")->i == 0);
}

static bool same_cell(enum column_type type, const struct cell *a, const struct cell *b)
{
    if (a->null || b->null)
        return a->null == b->null;
    switch (type) {
    case COLUMN_F64: return a->f == b->f || (!isfinite(a->f) && !isfinite(b->f));
    case COLUMN_TEXT: return str_equal(a->s, b->s);
    default: return a->i == b->i;
    }
}

static void check_same(const struct table *a, const struct table *b)
{
    check(a->desc == b->desc && a->row_count == b->row_count);
    for (size_t i = 0; i < a->row_count * a->desc->column_count; i++)
        check(same_cell(a->desc->columns[i % a->desc->column_count].type, &a->cells[i],
                        &b->cells[i]));
}

// A saved report loads unchanged.
static void check_saved(const struct report *report, struct arena *arena)
{
    struct report loaded = {.arena = arena};
    struct buf saved = {0};
    struct err err;
    check(report_save(report, &saved, &err));
    if (report_load(&loaded, (struct str){saved.at, saved.len}, trace_tables, &err)) {
        check(report->table_count == loaded.table_count);
        for (unsigned i = 0; i < report->table_count; i++)
            check_same(&report->tables[i], &loaded.tables[i]);
    } else {
        check(err.code == ERR_LIMIT);
    }
    buf_free(&saved);
}

// Chooses steps by the size of the input, so that each choice meets every kind of trace.
static struct analysis_options choose(size_t size)
{
    static const char *const patterns[] = {NULL, "*", "ProfilerStep#1", "iter*"};
    return (struct analysis_options){.step_pattern = patterns[size % 4],
                                     .warmup_steps = (int)(size / 4 % 4) - 1};
}

static void analyze(const struct trace *trace, const struct analysis_options *options,
                    struct arena *arena)
{
    struct report report = {.arena = arena}, run = {.arena = arena};
    const struct rank_report ranks[] = {{0, &report}, {3, &report}};
    struct buf json = {0};
    struct err err;
    if (!analyze_trace(trace, options, &report, &err))
        return;
    check(analysis_json_trace(&report, &json, &err));
    buf_free(&json);
    check_parts(&report, &table_breakdown, BREAKDOWN_TIMES);
    check_parts(&report, &table_steps, STEPS_TIMES);
    check_kernels(&report);
    check_memory(&report);
    check_saved(&report, arena);
    if (!analyze_reports(ranks, 2, &run, &err))
        return;
    check_parts(&run, &table_run_ranks, RUN_RANKS_TIMES);
    compare_with_itself(&run, &report, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = LIMIT};
    struct arena arena;
    struct err err;
    struct source *source = source_mem_open(data, size, 0, &err);
    struct trace *trace = source ? ingest_source(source, &budget, NULL, &err) : NULL;
    if (!trace)
        return 0;
    arena_init(&arena, &budget);
    struct analysis_options options = choose(size);
    analyze(trace, &options, &arena);
    arena_free(&arena);
    trace_free(trace);
    check(budget.used == 0);
    return 0;
}
