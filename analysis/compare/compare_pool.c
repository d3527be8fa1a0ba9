// SPDX-License-Identifier: Apache-2.0
// Reads the runs of a side and pools them: sums over the repeats, so that parts keep their sums,
// with as many steps of each, so that a run counts once however long it is.
#include "analysis/compare/compare_pool.h"

#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define MOST        PARTS_MOST_NS // ns or calls of one run
#define MOST_TOKENS ((int64_t)1 << 48)
#define GRAPHS_FROM 0.01 // of the busy time: shorter graphs hide nothing that matters

static bool read_total(struct pool_run *run, struct err *err)
{
    const struct table *breakdown = report_find(run->from->rank, "breakdown");
    for (size_t i = 0; breakdown && i < breakdown->row_count; i++) {
        const struct cell *steps = table_cell(breakdown, i, BREAKDOWN_STEPS);
        if (!table_is(breakdown, i, BREAKDOWN_SCOPE, STR("steady")) || steps->null)
            continue;
        run->total = parts_read(breakdown, i, BREAKDOWN_TIMES);
        run->steps = steps->i;
    }
    unsigned bar = parts_unsound(&run->total);
    if (bar < BAR_COUNT)
        return err_set(err, ERR_FORMAT, "%s: found %lld ns, expected 0 to %lld in all",
                       category_bar_word((enum bar)bar), (long long)run->total.bar_ns[bar],
                       (long long)PARTS_MOST_NS);
    if (run->steps < 0 || run->steps > MOST)
        return err_set(err, ERR_FORMAT, "found %lld steps", (long long)run->steps);
    return true;
}

static bool read_sum(const struct table *table, unsigned column, int64_t *sum, struct err *err)
{
    int64_t left = MOST;
    for (size_t i = 0; table && i < table->row_count; i++) {
        int64_t value = table_cell(table, i, column)->i;
        if (value < 0 || value > left)
            return err_set(err, ERR_FORMAT, "%s of %s: found %lld, expected 0 to %lld in all",
                           table->desc->columns[column_place(table->desc, column)].name,
                           table->desc->name, (long long)value, (long long)MOST);
        left -= value;
    }
    *sum = MOST - left;
    return true;
}

// A value of the summary's row, -1 if there is none; times are not negative and at most years.
static int64_t summary_i64(const struct pool_run *run, unsigned column)
{
    const struct table *summary = report_find(run->from->rank, "summary");
    const struct cell *cell = summary && summary->row_count ? table_cell(summary, 0, column) : NULL;
    return !cell || cell->null || cell->i < 0 || cell->i > MOST ? -1 : cell->i;
}

static bool read_run(const struct compare_run *from, struct pool_run *run, struct err *err)
{
    *run = (struct pool_run){.from = from, .parts = report_find(from->rank, "parts")};
    run->median_ns = summary_i64(run, SUMMARY_STEP_MEDIAN_NS);
    run->ci_low_ns = summary_i64(run, SUMMARY_STEP_CI_LOW_NS);
    run->ci_high_ns = summary_i64(run, SUMMARY_STEP_CI_HIGH_NS);
    int64_t checked_ns;
    return (read_total(run, err) && read_sum(run->parts, PARTS_OWNED_NS, &checked_ns, err) &&
            read_sum(run->parts, PARTS_CALLS, &run->calls, err) &&
            read_sum(report_find(from->rank, "modules"), MODULES_SELF_OWNED_NS, &checked_ns,
                     err)) ||
           err_wrap(err, "run %.*s", (int)from->id.len, from->id.at);
}

// --- tokens -------------------------------------------------------------------------------------

struct str compare_pool_setting(const struct compare_run *run, struct str key)
{
    for (size_t i = 0; i < run->meta_count; i++)
        if (str_equal(run->meta[i].key, key))
            return run->meta[i].value;
    const struct table *table = report_find(run->run, "environment");
    struct str best = STR("");
    int64_t most = 0;
    for (size_t i = 0; table && i < table->row_count; i++) {
        int64_t ranks = table_cell(table, i, RUN_ENVIRONMENT_RANKS)->i;
        if (!str_equal(table_cell(table, i, RUN_ENVIRONMENT_KEY)->s, key) || ranks <= most)
            continue;
        most = ranks;
        best = table_cell(table, i, RUN_ENVIRONMENT_VALUE)->s;
    }
    return best;
}

// A whole number above 0, else 0.
static int64_t count_setting(const struct compare_run *run, struct str key)
{
    int64_t count;
    bool known = str_to_i64(compare_pool_setting(run, key), &count);
    return known && count > 0 && count <= MOST_TOKENS ? count : 0;
}

static int64_t run_tokens(const struct compare_run *run)
{
    int64_t tokens = count_setting(run, STR("tokens_per_step"));
    int64_t batch = count_setting(run, STR("batch_size"));
    int64_t length = count_setting(run, STR("seq_len"));
    if (tokens == 0 && batch > 0 && length <= MOST_TOKENS / batch)
        tokens = batch * length;
    return tokens > MOST_TOKENS ? 0 : tokens;
}

static int64_t side_tokens(const struct compare_side *side)
{
    int64_t tokens = run_tokens(&side->runs[0]);
    for (size_t i = 1; i < side->run_count; i++)
        if (run_tokens(&side->runs[i]) != tokens)
            return 0;
    return tokens;
}

// --- figures ------------------------------------------------------------------------------------

// value x to / (by x and_by), rounded, at most MOST; 0 if a factor is.
static int64_t scaled(int64_t value, int64_t to, int64_t by, int64_t and_by)
{
    __extension__ typedef unsigned __int128 u128;
    if (value <= 0 || to <= 0 || by <= 0)
        return 0;
    u128 divisor = (u128)(uint64_t)by * (uint64_t)and_by;
    u128 product = (u128)(uint64_t)value * (uint64_t)to;
    u128 quotient = product / divisor + (product % divisor >= divisor - product % divisor);
    return quotient > (u128)MOST ? MOST : (int64_t)quotient;
}

// total / divisor, scaled and rounded; 0 if divisor is 0. total is not negative.
static int64_t per(const struct compare_pool *pool, int64_t total, int64_t divisor)
{
    return scaled(total, pool->scale.to, divisor, pool->scale.from);
}

int64_t compare_pool_weighed(const struct compare_pool *pool, const struct pool_run *run,
                             int64_t sum)
{
    return scaled(sum, pool->each_steps, run->steps, 1);
}

int64_t compare_pool_scaled(const struct compare_pool *pool, int64_t ns)
{
    return ns < 0 ? ns : per(pool, ns, 1);
}

double compare_pool_factor(const struct compare_pool *pool)
{
    return (double)pool->scale.to / (double)pool->scale.from;
}

int64_t compare_pool_median(int64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, order_i64);
    return values[(count - 1) / 2];
}

static int64_t median_step(const struct compare_pool *pool)
{
    int64_t medians[COMPARE_MAX_RUNS];
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->runs[i].median_ns >= 0)
            medians[count++] = pool->runs[i].median_ns;
    return count ? compare_pool_scaled(pool, compare_pool_median(medians, count)) : -1;
}

// The most steps of a run, or as many as leave every sum of a run within MOST.
static int64_t common_steps(const struct compare_pool *pool)
{
    double most = 0, room = (double)MOST;
    for (size_t i = 0; i < pool->count; i++) {
        const struct pool_run *run = &pool->runs[i];
        double sum = (double)parts_window_ns(&run->total), calls = (double)run->calls;
        most = fmax(most, (double)run->steps);
        if (run->steps > 0)
            room = fmin(room, (double)MOST / fmax(fmax(sum, calls), 1) * (double)run->steps);
    }
    return (int64_t)fmin(most, room);
}

static bool work_out(struct compare_pool *pool, struct err *err)
{
    struct parts sum = {0};
    for (size_t i = 0; i < pool->count; i++)
        for (int b = 0; b < BAR_COUNT; b++)
            sum.bar_ns[b] +=
                compare_pool_weighed(pool, &pool->runs[i], pool->runs[i].total.bar_ns[b]);
    pool->step_ns = median_step(pool);
    pool->mean_ns = per(pool, parts_window_ns(&sum), pool->weighed_steps);
    return parts_share_out(pool->mean_ns, sum.bar_ns, pool->bar_ns, BAR_COUNT, err);
}

// Whether graphs without their kernels have a relevant part of the busy time.
static bool has_whole_graphs(const struct report *rank)
{
    const struct table *breakdown = report_find(rank, table_breakdown.name);
    double graphs_ns = (double)trust_time_ns(rank, "graphs_whole");
    for (size_t i = 0; breakdown && i < breakdown->row_count; i++)
        if (table_is(breakdown, i, BREAKDOWN_SCOPE, STR("trace")))
            return graphs_ns > GRAPHS_FROM * (double)table_i64(breakdown, i, BREAKDOWN_BUSY_NS, 0);
    return graphs_ns > 0;
}

static void count_steps(struct compare_pool *pool)
{
    pool->each_steps = common_steps(pool);
    for (size_t i = 0; i < pool->count; i++) {
        const struct pool_run *run = &pool->runs[i];
        pool->steps += run->steps;
        pool->weighed_steps += run->steps > 0 ? pool->each_steps : 0;
        pool->no_steps &= trust_count(run->from->rank, "no_steps") > 0;
        pool->missed_steps |= trust_count(run->from->rank, "step_pattern_missed") > 0;
        pool->whole_graphs |= has_whole_graphs(run->from->rank);
    }
}

bool compare_pool_make(const struct compare_side *side, struct arena *arena,
                       struct compare_pool *pool, struct err *err)
{
    *pool = (struct compare_pool){
        .side = side, .count = side->run_count, .no_steps = true, .scale = {1, 1}};
    pool->runs = arena_array(arena, pool->count, sizeof *pool->runs, err);
    if (!pool->runs)
        return false;
    for (size_t i = 0; i < pool->count; i++)
        if (!read_run(&side->runs[i], &pool->runs[i], err))
            return false;
    count_steps(pool);
    pool->tokens = side_tokens(side);
    return work_out(pool, err);
}

bool compare_pool_scale(const struct compare_pool *base, struct compare_pool *cand, struct err *err)
{
    if (!base->tokens || !cand->tokens)
        return err_set(err, ERR_USAGE,
                       "found no tokens per step of the %s that hold for all its runs, expected "
                       "meta=tokens_per_step=N, or batch_size and seq_len, on both sides",
                       base->tokens ? "candidate" : "base");
    cand->scale = (struct pool_scale){base->tokens, cand->tokens};
    return work_out(cand, err);
}

size_t compare_side_rows(const struct compare_side *side, bool of_rank, const char *table)
{
    size_t count = 0;
    for (size_t i = 0; i < side->run_count; i++) {
        const struct compare_run *run = &side->runs[i];
        const struct table *rows = report_find(of_rank ? run->rank : run->run, table);
        count += rows ? rows->row_count : 0;
    }
    return count;
}
