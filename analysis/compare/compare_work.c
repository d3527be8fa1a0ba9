// SPDX-License-Identifier: Apache-2.0
// The same work: by operators, shapes and calls, or by the number of operations.
#include "analysis/compare/compare_work.h"

#include "analysis/names/category.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

// Calls and operations per step within this factor count as equal.
#define AS_MANY 1.1
// If less of the time has known operations, they prove nothing.
#define LEAST_FLOPS_SHARE 0.5

static bool as_many(double a, double b)
{
    return a > 0 && b > 0 && fabs(log(a / b)) <= log(AS_MANY);
}

// --- rows ---------------------------------------------------------------------------------------

static double per_step(const struct table *table, size_t row, unsigned calls, unsigned steps)
{
    int64_t count = table_cell(table, row, steps)->i;
    return count > 0 ? (double)table_cell(table, row, calls)->i / (double)count : 0;
}

// Times of an operator on one side, with and without its shapes.
struct op_time {
    struct str op;
    double ns[2];
};

// Sorted by operator, one entry each.
struct op_times {
    struct op_time *at;
    size_t count;
};

static int compare_ops(const void *a, const void *b)
{
    return str_compare(((const struct op_time *)a)->op, ((const struct op_time *)b)->op);
}

static size_t count_parts(const struct compare_pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        count += pool->runs[i].parts ? pool->runs[i].parts->row_count : 0;
    return count;
}

static bool read_ops(const struct compare_pool *pool, struct arena *arena, struct op_times *times,
                     struct err *err)
{
    *times = (struct op_times){arena_room(arena, count_parts(pool) + 1, sizeof *times->at, err), 0};
    if (!times->at)
        return false;
    for (size_t i = 0; i < pool->count; i++) {
        const struct table *parts = pool->runs[i].parts;
        for (size_t row = 0; parts && row < parts->row_count; row++) {
            const struct cell *op = table_cell(parts, row, PARTS_OP);
            bool without = table_cell(parts, row, PARTS_DIMS)->null;
            struct op_time one = {.op = op->s};
            one.ns[without] = (double)table_cell(parts, row, PARTS_OWNED_NS)->i;
            if (!op->null)
                times->at[times->count++] = one;
        }
    }
    if (times->count)
        qsort(times->at, times->count, sizeof *times->at, compare_ops);
    size_t kept = 0;
    for (size_t i = 0; i < times->count; i++)
        if (kept && str_equal(times->at[kept - 1].op, times->at[i].op))
            for (int k = 0; k < 2; k++)
                times->at[kept - 1].ns[k] += times->at[i].ns[k];
        else
            times->at[kept++] = times->at[i];
    times->count = kept;
    return true;
}

// Whether the shapes are recorded for most of the operator's time on that side.
static bool has_shapes(const struct op_times *times, struct str op)
{
    const struct op_time key = {.op = op}, *found = NULL;
    if (times->count)
        found = bsearch(&key, times->at, times->count, sizeof key, compare_ops);
    return found && found->ns[0] > found->ns[1];
}

// Operators without recorded shapes match by name: nothing shows that they differ.
static bool is_matched(const struct op_times times[SIDES], const struct table *table, size_t row)
{
    static const char *const rungs[] = {"module", "shape", "kernel"};
    struct str match = table_cell(table, row, COMPARE_WATERFALL_MATCH)->s,
               op = table_cell(table, row, COMPARE_WATERFALL_OP)->s;
    return str_is_one_of(match, rungs, sizeof rungs / sizeof *rungs) ||
           (str_equal(match, STR("op")) &&
            !(has_shapes(&times[BASE], op) && has_shapes(&times[CAND], op)));
}

static bool runs_as_often(const struct pair *pair, const struct table *table, size_t row)
{
    return pair->options->per_token ||
           as_many(
               per_step(table, row, COMPARE_WATERFALL_BASE_CALLS, COMPARE_WATERFALL_BASE_STEPS),
               per_step(table, row, COMPARE_WATERFALL_CAND_CALLS, COMPARE_WATERFALL_CAND_STEPS));
}

// The work of unrecorded time is unknown.
static bool is_no_work(struct str bar)
{
    return str_starts_with(bar, STR("idle_")) ||
           str_equal(bar, str_of(category_bar_word(BAR_UNRECORDED)));
}

static bool find_same_share(const struct pair *pair, double *share, struct err *err)
{
    const struct table *table = report_find(pair->report, table_compare_waterfall.name);
    struct op_times times[SIDES];
    double same = 0, all = 0;
    for (int side = 0; side < SIDES; side++)
        if (!read_ops(pair->sides[side], pair->scratch, &times[side], err))
            return false;
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (table_cell(table, row, COMPARE_WATERFALL_CAND)->i != pair->number ||
            !table_is(table, row, COMPARE_WATERFALL_LEVEL, STR("shape")) ||
            is_no_work(table_cell(table, row, COMPARE_WATERFALL_BAR)->s))
            continue;
        double ns = (double)table_cell(table, row, COMPARE_WATERFALL_BASE_NS)->i +
                    (double)table_cell(table, row, COMPARE_WATERFALL_CAND_NS)->i;
        all += ns;
        same += is_matched(times, table, row) && runs_as_often(pair, table, row) ? ns : 0;
    }
    *share = all > 0 ? same / all : NAN;
    return true;
}

// --- metrics ------------------------------------------------------------------------------------

static double metric_of(const struct report *rank, struct str name)
{
    const struct table *table = report_find(rank, table_utilization.name);
    for (size_t row = 0; table && row < table->row_count; row++)
        if (str_equal(table_cell(table, row, UTILIZATION_METRIC)->s, name)) {
            const struct cell *value = table_cell(table, row, UTILIZATION_VALUE);
            return value->null ? NAN : value->f;
        }
    return NAN;
}

static double mean_metric(const struct compare_pool *pool, const char *name)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < pool->count; i++) {
        double value = metric_of(pool->runs[i].from->rank, str_of(name));
        sum += isnan(value) ? 0 : value;
        known += !isnan(value);
    }
    return known ? sum / (double)known : NAN;
}

static bool has_same_flops(const struct pair *pair, const struct side_work sides[SIDES])
{
    for (int side = 0; side < SIDES; side++)
        if (!(sides[side].flops_time_share >= LEAST_FLOPS_SHARE))
            return false;
    return as_many(sides[BASE].flops_per_step,
                   sides[CAND].flops_per_step * compare_pool_factor(pair->sides[CAND]));
}

bool compare_work_read(const struct pair *pair, struct compare_work *work, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        const struct compare_pool *pool = pair->sides[side];
        work->sides[side] =
            (struct side_work){.flops_per_step = mean_metric(pool, "model_flops_per_step"),
                               .flops_time_share = mean_metric(pool, "flops_time_share"),
                               .unknown_share = mean_metric(pool, "gemm_unknown_share")};
    }
    if (!find_same_share(pair, &work->same_share, err))
        return false;
    work->is_same = isnan(work->same_share) || work->same_share >= COMPARE_SAME_SHARE ||
                    has_same_flops(pair, work->sides);
    return true;
}
