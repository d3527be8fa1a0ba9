// SPDX-License-Identifier: Apache-2.0
// The run's tables whose rows join the equal rows of all ranks.
#include "analysis/groups.h"
#include "analysis/ranked.h"
#include "analysis/run.h"
#include "analysis/sort.h"
#include "analysis/stats.h"
#include "analysis/tables.h"
#include "ingest/trace/strtab.h"

#include <math.h>
#include <stdlib.h>

#define MAX_KEYS 8

// Rows of one table that are joined: one per rank or more, ascending by rank.
struct joined {
    const struct run *run;
    const char *table;
    const struct keyed *sources; // a: rank, b: row
    uint32_t count;
    int64_t *values; // room for twice count
    double *numbers; // room for count
};

// One table: by which columns its rows are joined, and how the joined row is written.
struct merge_table {
    const char *name;
    const char *keys[MAX_KEYS + 1];
    const char *weight; // column to order by, the most first
    bool (*add)(const struct joined *rows, struct err *err);
};

static const struct table *table_of(const struct joined *rows, uint32_t i)
{
    return run_table(rows->run, rows->sources[i].a, rows->table);
}

static const struct cell *cell_of(const struct joined *rows, uint32_t i, const char *column)
{
    return table_cell(table_of(rows, i), rows->sources[i].b, column);
}

static int64_t sum_of(const struct joined *rows, const char *column)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct cell *cell = cell_of(rows, i, column);
        if (!cell->null && __builtin_add_overflow(sum, cell->i, &sum))
            return INT64_MAX;
    }
    return sum;
}

// Ranks that have such a row; sources ascend by rank.
static int64_t ranks_of(const struct joined *rows)
{
    int64_t ranks = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        ranks += i == 0 || rows->sources[i].a != rows->sources[i - 1].a;
    return ranks;
}

// The row with most in a column speaks for what cannot be summed.
static uint32_t heaviest_of(const struct joined *rows, const char *column)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < rows->count; i++)
        if (cell_of(rows, i, column)->i > cell_of(rows, best, column)->i)
            best = i;
    return best;
}

// The column's integers, ascending; nulls are left out.
static size_t values_of(const struct joined *rows, const char *column)
{
    size_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct cell *cell = cell_of(rows, i, column);
        if (!cell->null)
            rows->values[count++] = cell->i;
    }
    sort_i64(rows->values, rows->values + rows->count, count);
    return count;
}

static int64_t median_of(const struct joined *rows, const char *column)
{
    return stats_median(rows->values, values_of(rows, column));
}

static int64_t min_of(const struct joined *rows, const char *column)
{
    return values_of(rows, column) ? rows->values[0] : 0;
}

static int64_t max_of(const struct joined *rows, const char *column)
{
    size_t count = values_of(rows, column);
    return count ? rows->values[count - 1] : 0;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Lower median of a column of doubles.
static struct cell median_f64(const struct joined *rows, const char *column)
{
    size_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct cell *cell = cell_of(rows, i, column);
        if (!cell->null)
            rows->numbers[count++] = cell->f;
    }
    if (count == 0)
        return cell_null();
    qsort(rows->numbers, count, sizeof *rows->numbers, compare_numbers);
    return cell_f64(rows->numbers[(count - 1) / 2]);
}

static void copy_cells(struct row *row, const struct joined *rows, uint32_t from,
                       const char *const *columns)
{
    for (; *columns; columns++)
        row_cell(row, *cell_of(rows, from, *columns));
}

static bool is_headline(const struct joined *rows, uint32_t i)
{
    return rows->sources[i].a == rows->run->headline;
}

// Calls per step and time per step of the headline rank; null when it has no such row.
static struct cell headline_calls(const struct joined *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (is_headline(rows, i))
            return *cell_of(rows, i, "calls_per_step");
    return cell_null();
}

static struct cell headline_per_step(const struct joined *rows)
{
    int64_t steps = run_summary_i64(rows->run, rows->run->headline, "step_count", 0);
    for (uint32_t i = 0; steps > 0 && i < rows->count; i++)
        if (is_headline(rows, i))
            return cell_f64((double)cell_of(rows, i, "total_ns")->i / (double)steps);
    return cell_null();
}

static void add_totals(struct row *row, const struct joined *rows)
{
    size_t count = values_of(rows, "total_ns");
    struct stats totals = stats_of(rows->values, count);
    row_i64(row, totals.min);
    row_i64(row, totals.median);
    row_i64(row, totals.max);
    row_f64(row, totals.mean > 0 ? totals.stddev / totals.mean : NAN);
    uint32_t slowest = heaviest_of(rows, "total_ns");
    row_i64(row, rows->run->ranks[rows->sources[slowest].a].rank);
}

static bool add_kernel(const struct joined *rows, struct err *err)
{
    static const char *const names[] = {"name", "class", "category", "op", NULL};
    static const char *const shapes[] = {
        "grid", "block", "registers", "shared_bytes", "occupancy_percent", NULL};
    uint32_t heaviest = heaviest_of(rows, "total_ns");
    int64_t total_ns = sum_of(rows, "total_ns");
    struct row row = {0};
    copy_cells(&row, rows, heaviest, names);
    row_i64(&row, ranks_of(rows));
    row_i64(&row, sum_of(rows, "calls"));
    row_cell(&row, headline_calls(rows));
    row_i64(&row, total_ns);
    row_i64(&row, sum_of(rows, "owned_ns"));
    row_i64(&row, sum_of(rows, "exposed_ns"));
    row_share(&row, total_ns, rows->run->window_ns);
    row_share(&row, total_ns, rows->run->busy_ns);
    row_cell(&row, headline_per_step(rows));
    row_i64(&row, min_of(rows, "min_ns"));
    row_cell(&row, median_f64(rows, "mean_ns"));
    row_i64(&row, median_of(rows, "median_ns"));
    row_i64(&row, median_of(rows, "p95_ns"));
    row_i64(&row, median_of(rows, "p99_ns"));
    row_i64(&row, max_of(rows, "max_ns"));
    row_cell(&row, median_f64(rows, "stddev_ns"));
    add_totals(&row, rows);
    copy_cells(&row, rows, heaviest, shapes);
    return row_end(&row, &table_run_kernels, rows->run->report, err);
}

static bool add_op(const struct joined *rows, struct err *err)
{
    struct row row = {0};
    row_cell(&row, *cell_of(rows, 0, "name"));
    row_i64(&row, sum_of(rows, "launching_calls"));
    row_i64(&row, sum_of(rows, "total_ns"));
    row_i64(&row, ranks_of(rows));
    return row_end(&row, &table_run_ops, rows->run->report, err);
}

static bool add_collective(const struct joined *rows, struct err *err)
{
    static const char *const names[] = {"collective", "kind",       "dtype",         "in_elems",
                                        "out_elems",  "group_size", "process_group", NULL};
    int64_t total_ns = sum_of(rows, "total_ns"), exposed_ns = sum_of(rows, "exposed_ns");
    struct row row = {0};
    copy_cells(&row, rows, 0, names);
    row_i64(&row, sum_of(rows, "calls"));
    row_i64(&row, total_ns);
    row_i64(&row, min_of(rows, "min_ns"));
    row_i64(&row, median_of(rows, "median_ns"));
    row_i64(&row, median_of(rows, "p95_ns"));
    row_i64(&row, max_of(rows, "max_ns"));
    row_cell(&row, *cell_of(rows, 0, "bytes"));
    row_cell(&row, median_f64(rows, "algo_gbps"));
    row_cell(&row, median_f64(rows, "bus_gbps"));
    row_i64(&row, exposed_ns);
    row_share(&row, exposed_ns, total_ns);
    row_cell(&row, *cell_of(rows, 0, "kernel"));
    row_i64(&row, ranks_of(rows));
    return row_end(&row, &table_run_collectives, rows->run->report, err);
}

static bool add_short(const struct joined *rows, struct err *err)
{
    struct row row = {0};
    row_cell(&row, *cell_of(rows, 0, "op"));
    row_i64(&row, sum_of(rows, "calls"));
    row_i64(&row, sum_of(rows, "short_calls"));
    row_i64(&row, sum_of(rows, "total_ns"));
    row_i64(&row, sum_of(rows, "short_ns"));
    return row_end(&row, &table_run_short_kernels, rows->run->report, err);
}

static bool add_class(const struct joined *rows, struct err *err)
{
    struct row row = {0};
    row_cell(&row, *cell_of(rows, 0, "class"));
    row_i64(&row, sum_of(rows, "events"));
    row_i64(&row, sum_of(rows, "sum_ns"));
    return row_end(&row, &table_run_classes, rows->run->report, err);
}

static bool add_setting(const struct joined *rows, struct err *err)
{
    struct row row = {0};
    row_cell(&row, *cell_of(rows, 0, "key"));
    row_cell(&row, *cell_of(rows, 0, "value"));
    row_i64(&row, ranks_of(rows));
    return row_end(&row, &table_run_environment, rows->run->report, err);
}

static const struct merge_table merge_tables[] = {
    {"kernels", {"name"}, "total_ns", add_kernel},
    {"ops", {"name"}, "total_ns", add_op},
    {"collectives",
     {"collective", "kind", "dtype", "in_elems", "out_elems", "group_size", "process_group",
      "kernel"},
     "total_ns",
     add_collective},
    {"short_kernels", {"op"}, "short_ns", add_short},
    {"classes", {"class"}, NULL, add_class},
    {"environment", {"key", "value"}, NULL, add_setting},
};

// The key of a row as text. A key longer than the string table takes is cut; rows that differ only
// behind the cut are joined.
static void write_key(const struct table *table, size_t row, const char *const *keys,
                      struct buf *key)
{
    buf_clear(key);
    for (; *keys; keys++) {
        const struct cell *cell = table_cell(table, row, *keys);
        int column = table_column(table->desc, *keys);
        buf_putc(key, cell->null ? '-' : '+');
        if (cell->null)
            continue;
        if (table->desc->columns[column].type == COLUMN_TEXT)
            buf_add_str(key, cell->s);
        else
            buf_i64(key, cell->i);
        buf_putc(key, '\x1f');
    }
    if (key->len > STRTAB_MAX_LEN)
        key->len = STRTAB_MAX_LEN;
}

static size_t count_rows(const struct run *run, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct table *table = run_table(run, i, name);
        count += table ? table->row_count : 0;
    }
    return count;
}

// One table on its way.
struct merge {
    const struct run *run;
    const struct merge_table *what;
    struct strtab keys;
    struct arena arena;
    struct keyed *sources; // by key, then rank; twice as long as count, for sorting
    size_t count;
};

// All rows of the ranks' tables; their key is the number of their text key.
static bool collect(struct merge *merge, struct buf *key, struct err *err)
{
    for (size_t rank = 0; rank < merge->run->count; rank++) {
        const struct table *table = run_table(merge->run, rank, merge->what->name);
        for (size_t row = 0; table && row < table->row_count; row++) {
            str_id id;
            write_key(table, row, merge->what->keys, key);
            if (!buf_ok(key, err) ||
                !strtab_intern(&merge->keys, (struct str){key->at, key->len}, &id, err))
                return false;
            merge->sources[merge->count++] = (struct keyed){id, (uint32_t)rank, (uint32_t)row};
        }
    }
    sort_keyed(merge->sources, merge->sources + merge->count, merge->count);
    return true;
}

static uint32_t end_of_key(const struct merge *merge, size_t from)
{
    size_t to = from;
    while (to < merge->count && merge->sources[to].key == merge->sources[from].key)
        to++;
    return (uint32_t)to;
}

static struct joined joined_at(const struct merge *merge, size_t from)
{
    return (struct joined){
        .run = merge->run,
        .table = merge->what->name,
        .sources = merge->sources + from,
        .count = (uint32_t)(end_of_key(merge, from) - from),
    };
}

// Where each set of equal keys begins, the heaviest first.
static struct ranked *rank_keys(struct merge *merge, size_t *count, struct err *err)
{
    struct ranked *ranked = arena_array(&merge->arena, merge->count, sizeof *ranked, err);
    *count = 0;
    for (size_t from = 0; ranked && from < merge->count; from = end_of_key(merge, from)) {
        struct joined rows = joined_at(merge, from);
        int64_t weight = merge->what->weight ? sum_of(&rows, merge->what->weight) : 0;
        struct str key = strtab_get(&merge->keys, (str_id)merge->sources[from].key);
        ranked[(*count)++] = (struct ranked){weight, key, (uint32_t)from};
    }
    if (ranked)
        ranked_sort(ranked, *count);
    return ranked;
}

static bool join(struct merge *merge, struct err *err)
{
    size_t keys;
    struct ranked *ranked = rank_keys(merge, &keys, err);
    int64_t *values = arena_array(&merge->arena, 2 * merge->count, sizeof *values, err);
    double *numbers = arena_array(&merge->arena, merge->count, sizeof *numbers, err);
    if (!ranked || !values || !numbers)
        return false;
    for (size_t k = 0; k < keys; k++) {
        struct joined rows = joined_at(merge, ranked[k].index);
        rows.values = values;
        rows.numbers = numbers;
        if (!merge->what->add(&rows, err))
            return false;
    }
    return true;
}

static bool merge_one(const struct run *run, const struct merge_table *what, struct err *err)
{
    struct merge merge = {.run = run, .what = what};
    struct buf key = {0};
    if (!strtab_init(&merge.keys, run->budget, err))
        return false;
    arena_init(&merge.arena, run->budget);
    merge.sources =
        arena_array(&merge.arena, 2 * count_rows(run, what->name), sizeof *merge.sources, err);
    bool ok = merge.sources && collect(&merge, &key, err) && join(&merge, err);
    buf_free(&key);
    arena_free(&merge.arena);
    strtab_free(&merge.keys);
    return ok;
}

bool run_merge(const struct run *run, struct err *err)
{
    for (size_t i = 0; i < sizeof merge_tables / sizeof *merge_tables; i++)
        if (!merge_one(run, &merge_tables[i], err))
            return err_wrap(err, "table %s of the run", merge_tables[i].name);
    return true;
}
