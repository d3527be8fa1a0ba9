// SPDX-License-Identifier: Apache-2.0
// Ranks of both sides: one by one if they are the same ranks, and as statistics.
#include "analysis/compare/compare_pair.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NS ((int64_t)1 << 53)

// One rank of one side, over its runs.
struct rank {
    int64_t rank;
    int64_t step_ns; // lower median of the runs' medians, -1 without steps
    // Per step, sums over the runs that have them.
    double lateness_ns, wait_ns, compute_ns;
    size_t lateness_runs, wait_runs, compute_runs;
};

struct ranks {
    struct rank *at;
    size_t count;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->step_ns > y->step_ns) - (x->step_ns < y->step_ns);
}

// Keeps sums far from overflow whatever a table contains.
static int64_t bounded(int64_t value)
{
    return value < 0 ? -1 : value > MOST_NS ? MOST_NS : value;
}

static struct rank read_rank(const struct table *table, size_t row)
{
    struct rank rank = {.rank = table_cell(table, row, RUN_RANKS_RANK)->i,
                        .step_ns = bounded(table_i64(table, row, RUN_RANKS_STEP_MEDIAN_NS, -1))};
    rank.lateness_ns = (double)table_i64(table, row, RUN_RANKS_LATENESS_NS, 0);
    rank.wait_ns = (double)table_i64(table, row, RUN_RANKS_EXPOSED_WAIT_NS, 0);
    rank.compute_ns = (double)table_i64(table, row, RUN_RANKS_COMPUTE_NS, 0);
    rank.compute_runs = !table_cell(table, row, RUN_RANKS_COMPUTE_NS)->null;
    rank.lateness_runs = !table_cell(table, row, RUN_RANKS_LATENESS_NS)->null;
    rank.wait_runs = !table_cell(table, row, RUN_RANKS_EXPOSED_WAIT_NS)->null;
    return rank;
}

// Joins the runs of one rank, which are sorted by their steps; those without steps come first.
static struct rank join_runs(const struct rank *runs, size_t count)
{
    struct rank joined = {.rank = runs[0].rank, .step_ns = -1};
    size_t without = 0;
    for (size_t i = 0; i < count; i++) {
        without += runs[i].step_ns < 0;
        joined.lateness_ns += runs[i].lateness_ns;
        joined.wait_ns += runs[i].wait_ns;
        joined.compute_ns += runs[i].compute_ns;
        joined.compute_runs += runs[i].compute_runs;
        joined.lateness_runs += runs[i].lateness_runs;
        joined.wait_runs += runs[i].wait_runs;
    }
    if (without < count)
        joined.step_ns = runs[without + (count - without - 1) / 2].step_ns;
    return joined;
}

static bool read_side(const struct compare_pool *pool, struct arena *arena, struct ranks *ranks,
                      struct err *err)
{
    ranks->count = 0;
    ranks->at = arena_array(arena, compare_side_rows(pool->side, false, "ranks") + 1,
                            sizeof *ranks->at, err);
    if (!ranks->at)
        return false;
    for (size_t r = 0; r < pool->count; r++) {
        const struct table *table = report_find(pool->side->runs[r].run, "ranks");
        for (size_t i = 0; table && i < table->row_count; i++)
            ranks->at[ranks->count++] = read_rank(table, i);
    }
    qsort(ranks->at, ranks->count, sizeof *ranks->at, compare_ranks);
    size_t kept = 0;
    for (size_t from = 0, to; from < ranks->count; from = to) {
        for (to = from + 1; to < ranks->count && ranks->at[to].rank == ranks->at[from].rank;)
            to++;
        struct rank joined = join_runs(ranks->at + from, to - from);
        joined.step_ns = compare_pool_scaled(pool, joined.step_ns);
        ranks->at[kept++] = joined;
    }
    ranks->count = kept;
    return true;
}

// The mean of the runs; null without any.
static void add_mean(struct row *row, unsigned column, const struct compare_pool *pool,
                     double sum_ns, size_t runs)
{
    double ns = runs ? sum_ns / (double)runs * compare_pool_factor(pool) : 0;
    row_i64_if(row, column, runs, llround(fmin(fmax(ns, -(double)MOST_NS), (double)MOST_NS)));
}

static void add_steps(struct row *row, int64_t base_ns, int64_t cand_ns)
{
    bool known = base_ns >= 0 && cand_ns >= 0;
    row_i64_if(row, COMPARE_RANKS_BASE_STEP_NS, base_ns >= 0, base_ns);
    row_i64_if(row, COMPARE_RANKS_CAND_STEP_NS, cand_ns >= 0, cand_ns);
    row_i64_if(row, COMPARE_RANKS_DELTA_NS, known, cand_ns - base_ns);
    row_share(row, COMPARE_RANKS_DELTA_SHARE, cand_ns - base_ns, known ? base_ns : 0);
}

static bool add_rank(const struct pair *pair, const struct rank *base, const struct rank *cand,
                     struct err *err)
{
    const struct rank *ranks[SIDES] = {base, cand};
    struct row row = {.desc = &table_compare_ranks};
    row_i64(&row, COMPARE_RANKS_CAND, pair->number);
    row_i64(&row, COMPARE_RANKS_RANK, base->rank);
    add_steps(&row, base->step_ns, cand->step_ns);
    for (int side = 0; side < SIDES; side++) {
        const struct compare_pool *pool = pair->sides[side];
        const struct rank *rank = ranks[side];
        add_mean(&row, COMPARE_RANKS_BASE_LATENESS_NS + side, pool, rank->lateness_ns,
                 rank->lateness_runs);
        add_mean(&row, COMPARE_RANKS_BASE_EXPOSED_WAIT_NS + side, pool, rank->wait_ns,
                 rank->wait_runs);
        add_mean(&row, COMPARE_RANKS_BASE_COMPUTE_NS + side, pool, rank->compute_ns,
                 rank->compute_runs);
    }
    return row_end(&row, pair->report, err);
}

// --- statistics ---------------------------------------------------------------------------------

enum statistic { LEAST, MEDIAN, MEAN, MOST, STATISTIC_COUNT };

static bool work_out(const struct ranks *ranks, struct arena *arena,
                     int64_t out_ns[STATISTIC_COUNT], struct err *err)
{
    int64_t *steps_ns = arena_array(arena, ranks->count + 1, sizeof *steps_ns, err);
    size_t count = 0;
    double sum_ns = 0;
    for (size_t i = 0; steps_ns && i < ranks->count; i++) {
        if (ranks->at[i].step_ns < 0)
            continue;
        steps_ns[count++] = ranks->at[i].step_ns;
        sum_ns += (double)ranks->at[i].step_ns;
    }
    for (int s = 0; s < STATISTIC_COUNT; s++)
        out_ns[s] = -1;
    if (steps_ns && count) {
        out_ns[MEDIAN] = compare_pool_median(steps_ns, count);
        out_ns[LEAST] = steps_ns[0];
        out_ns[MOST] = steps_ns[count - 1];
        out_ns[MEAN] = (int64_t)(sum_ns / (double)count + 0.5);
    }
    return steps_ns != NULL;
}

static bool add_statistics(const struct pair *pair, const struct ranks ranks[SIDES],
                           struct err *err)
{
    static const char *const words[STATISTIC_COUNT] = {"min", "median", "mean", "max"};
    int64_t ns[SIDES][STATISTIC_COUNT];
    for (int side = 0; side < SIDES; side++)
        if (!work_out(&ranks[side], pair->scratch, ns[side], err))
            return false;
    for (int s = 0; s < STATISTIC_COUNT; s++) {
        struct row row = {.desc = &table_compare_ranks};
        row_i64(&row, COMPARE_RANKS_CAND, pair->number);
        row_word(&row, COMPARE_RANKS_STATISTIC, words[s]);
        add_steps(&row, ns[BASE][s], ns[CAND][s]);
        if (!row_end(&row, pair->report, err))
            return false;
    }
    return true;
}

static bool are_same(const struct ranks ranks[SIDES])
{
    bool same = ranks[BASE].count == ranks[CAND].count;
    for (size_t i = 0; same && i < ranks[BASE].count; i++)
        same = ranks[BASE].at[i].rank == ranks[CAND].at[i].rank;
    return same;
}

bool compare_ranks_write(const struct pair *pair, struct err *err)
{
    struct ranks ranks[SIDES];
    for (int side = 0; side < SIDES; side++)
        if (!read_side(pair->sides[side], pair->scratch, &ranks[side], err))
            return false;
    if (ranks[BASE].count + ranks[CAND].count == 0)
        return true;
    bool same = are_same(ranks);
    for (size_t i = 0; same && i < ranks[BASE].count; i++)
        if (!add_rank(pair, &ranks[BASE].at[i], &ranks[CAND].at[i], err))
            return false;
    return (same && ranks[BASE].count == 1) || add_statistics(pair, ranks, err);
}
