// SPDX-License-Identifier: Apache-2.0
#include "server/exports/tracelens_sheets.h"

#include "analysis/report/tables.h"

#include <stdlib.h>

#define NS_A_MS 1e6
#define NS_A_US 1e3

// --- gpu_timeline -------------------------------------------------------------------------------

enum { TIMELINE_TYPE, TIMELINE_MS, TIMELINE_PERCENT, TIMELINE_COLUMNS };

static const struct column timeline_columns[TIMELINE_COLUMNS] = {
    {"type", COLUMN_TEXT, "", "Part of the rank's window, as TraceLens names it."},
    {"time ms", COLUMN_F64, "", "Union of its events on the device, milliseconds."},
    {"percent", COLUMN_F64, "", "Of total_time."},
};
static const struct table_desc timeline_desc = {"gpu_timeline", "TraceLens's breakdown.",
                                                timeline_columns, TIMELINE_COLUMNS, 0};

const struct tracelens_part tracelens_parts[TRACELENS_PARTS] = {
    {"computation_time", RUN_BREAKDOWN_COMPUTE_NS},
    {"exposed_comm_time", RUN_BREAKDOWN_EXPOSED_COMM_NS},
    {"exposed_memcpy_time", RUN_BREAKDOWN_EXPOSED_MEMORY_NS},
    {"busy_time", RUN_BREAKDOWN_BUSY_NS},
    {"idle_time", RUN_BREAKDOWN_IDLE_NS},
    {"total_time", RUN_BREAKDOWN_WINDOW_NS},
    {"total_comm_time", RUN_BREAKDOWN_TOTAL_COMM_NS},
    {"total_memcpy_time", RUN_BREAKDOWN_TOTAL_MEMORY_NS}};

static bool find_rank(const struct table *breakdown, int64_t rank, size_t *row)
{
    for (size_t i = 0; breakdown && i < breakdown->row_count; i++)
        if (str_equal(table_text(breakdown, i, RUN_BREAKDOWN_SCOPE), STR("rank")) &&
            table_i64(breakdown, i, RUN_BREAKDOWN_RANK, -1) == rank) {
            *row = i;
            return true;
        }
    return false;
}

void tracelens_add_timeline(struct xlsx_book *book, const struct table *breakdown, int64_t rank)
{
    size_t row;
    struct cell cells[TRACELENS_PARTS * TIMELINE_COLUMNS];
    if (!find_rank(breakdown, rank, &row))
        return;
    double total_ns = (double)table_i64(breakdown, row, RUN_BREAKDOWN_WINDOW_NS, 0);
    for (size_t i = 0; i < TRACELENS_PARTS; i++) {
        struct cell *at = &cells[i * TIMELINE_COLUMNS];
        double ns = (double)table_i64(breakdown, row, tracelens_parts[i].column, 0);
        at[TIMELINE_TYPE] = (struct cell){.s = str_of(tracelens_parts[i].type)};
        at[TIMELINE_MS] = (struct cell){.f = ns / NS_A_MS};
        at[TIMELINE_PERCENT] =
            (struct cell){.null = total_ns <= 0, .f = total_ns > 0 ? 100 * ns / total_ns : 0};
    }
    xlsx_book_table(
        book,
        &(struct table){.desc = &timeline_desc, .cells = cells, .row_count = TRACELENS_PARTS});
}

// --- ops_summary --------------------------------------------------------------------------------

enum { OPS_NAME, OPS_SUM, OPS_COUNT, OPS_MS, OPS_PERCENT, OPS_CUMULATIVE, OPS_COLUMNS };

static const struct column ops_columns[OPS_COLUMNS] = {
    {"name", COLUMN_TEXT, "", "The operator."},
    {"total_direct_kernel_time_sum", COLUMN_F64, "",
     "Union of what each call launched directly, summed over the calls, microseconds."},
    {"Count", COLUMN_I64, "", "Calls that launched something."},
    {"total_direct_kernel_time_ms", COLUMN_F64, "", "The sum in milliseconds."},
    {"Percentage (%)", COLUMN_F64, "", "Of the sum of all rows."},
    {"Cumulative Percentage (%)", COLUMN_F64, "", "Of this row and those above."},
};
static const struct table_desc ops_desc = {"ops_summary", "TraceLens's operators by name.",
                                           ops_columns, OPS_COLUMNS, 0};

struct op {
    struct str name;
    int64_t self_ns, count;
};

static int by_time(const void *left, const void *right)
{
    const struct op *a = left, *b = right;
    if (a->self_ns != b->self_ns)
        return a->self_ns < b->self_ns ? 1 : -1;
    return str_compare(a->name, b->name);
}

// Those that launch something; device events without an operator are in no row.
static size_t keep_launching(const struct table *operators, struct op *ops, double *total_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < operators->row_count; i++) {
        struct op op = {table_text(operators, i, OPERATORS_NAME),
                        table_i64(operators, i, OPERATORS_SELF_NS, 0),
                        table_i64(operators, i, OPERATORS_LAUNCHING_CALLS, 0)};
        if (!op.name.len || op.count == 0)
            continue;
        *total_ns += (double)op.self_ns;
        ops[count++] = op;
    }
    qsort(ops, count, sizeof *ops, by_time);
    return count;
}

static void fill(const struct op *ops, size_t count, double total_ns, struct cell *cells)
{
    double above_ns = 0;
    for (size_t i = 0; i < count; i++) {
        struct cell *at = &cells[i * OPS_COLUMNS];
        double ns = (double)ops[i].self_ns;
        above_ns += ns;
        at[OPS_NAME] = (struct cell){.s = ops[i].name};
        at[OPS_SUM] = (struct cell){.f = ns / NS_A_US};
        at[OPS_COUNT] = cell_i64(ops[i].count);
        at[OPS_MS] = (struct cell){.f = ns / NS_A_MS};
        at[OPS_PERCENT] = (struct cell){.f = total_ns > 0 ? 100 * ns / total_ns : 0};
        at[OPS_CUMULATIVE] = (struct cell){.f = total_ns > 0 ? 100 * above_ns / total_ns : 0};
    }
}

bool tracelens_add_ops(struct xlsx_book *book, const struct table *operators, struct err *err)
{
    struct arena arena;
    double total_ns = 0;
    if (!operators || !operators->row_count)
        return true;
    arena_init(&arena, NULL);
    struct op *ops = arena_array(&arena, operators->row_count, sizeof *ops, err);
    struct cell *cells =
        arena_array(&arena, operators->row_count, OPS_COLUMNS * sizeof *cells, err);
    bool ok = ops && cells;
    if (ok) {
        size_t count = keep_launching(operators, ops, &total_ns);
        fill(ops, count, total_ns, cells);
        xlsx_book_table(book,
                        &(struct table){.desc = &ops_desc, .cells = cells, .row_count = count});
    }
    arena_free(&arena);
    return ok;
}
