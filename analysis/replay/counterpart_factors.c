// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/counterpart_factors.h"

#include "analysis/facts/op_calls.h"
#include "analysis/names/op_alias.h"
#include "analysis/names/shape_text.h"
#include "analysis/report/tables.h"
#include "analysis/work/work_rows.h"

#include <stdlib.h>

// An operator with its shapes and types, and its time in the other run.
struct other {
    struct str op, dims, types;
    double busy_ns, calls;
};

struct others {
    struct other *at;
    size_t count;
};

static int compare_others(const void *a, const void *b)
{
    const struct other *x = a, *y = b;
    int order = str_compare(x->op, y->op);
    order = order ? order : str_compare(x->dims, y->dims);
    return order ? order : str_compare(x->types, y->types);
}

// Rows that differ only in their work are merged.
static bool read_others(const struct table *roofline, struct arena *arena, struct others *others,
                        struct err *err)
{
    size_t rows = roofline ? roofline->row_count : 0, kept = 0;
    others->at = arena_room(arena, rows + 1, sizeof *others->at, err);
    if (!others->at)
        return false;
    for (size_t row = 0; row < rows; row++)
        others->at[row] = (struct other){op_alias_name(table_text(roofline, row, ROOFLINE_OP)),
                                         table_text(roofline, row, ROOFLINE_DIMS),
                                         table_text(roofline, row, ROOFLINE_TYPES),
                                         (double)table_i64(roofline, row, ROOFLINE_BUSY_NS, 0),
                                         (double)table_i64(roofline, row, ROOFLINE_CALLS, 0)};
    if (rows)
        qsort(others->at, rows, sizeof *others->at, compare_others);
    for (size_t row = 0; row < rows; row++) {
        struct other *last = kept ? &others->at[kept - 1] : NULL;
        if (last && compare_others(last, &others->at[row]) == 0) {
            last->busy_ns += others->at[row].busy_ns;
            last->calls += others->at[row].calls;
        } else {
            others->at[kept++] = others->at[row];
        }
    }
    others->count = kept;
    return true;
}

static double factor_of(const struct work_rows *rows, const struct work_row *row,
                        const struct others *others)
{
    const struct trace *trace = rows->facts->trace;
    char dims[SHAPE_TEXT_SIZE], types[SHAPE_TEXT_SIZE];
    struct other key = {
        .op = op_alias_name(op_calls_name(rows->facts, row->name)),
        .dims = row->dims ? shape_text(trace_text(trace, row->dims), dims) : STR(""),
        .types = row->types ? shape_text(trace_text(trace, row->types), types) : STR("")};
    if (!others->count || row->communicates || row->busy_ns <= 0)
        return COUNTERPART_NONE;
    const struct other *found =
        bsearch(&key, others->at, others->count, sizeof key, compare_others);
    if (!found || found->calls <= 0 || found->busy_ns <= 0)
        return COUNTERPART_NONE;
    return found->busy_ns / found->calls / ((double)row->busy_ns / (double)row->calls);
}

// Sets the factor of the device events of an operator's call.
static void place(const struct work_rows *rows, uint32_t c, double factor, double *factors)
{
    const struct facts *facts = rows->facts;
    const struct op_call *call = &rows->calls->calls[c];
    for (uint32_t i = call->from; i < call->to; i++)
        for (uint32_t d = facts->launches[rows->calls->order[i]].first; d != FACTS_NONE;
             d = facts->devices[d].next)
            factors[d] = factor;
}

bool counterpart_factors(const struct facts *facts, const struct table *roofline,
                         struct arena *arena, const double **factors, struct err *err)
{
    struct work_rows rows;
    struct others others;
    double *made = arena_room(arena, (size_t)facts->device_count + 1, sizeof *made, err);
    *factors = made;
    if (!made || !work_rows_make(facts, arena, &rows, err) ||
        !read_others(roofline, arena, &others, err))
        return false;
    double *of_row = arena_room(arena, (size_t)rows.count + 1, sizeof *of_row, err);
    if (!of_row)
        return false;
    for (uint32_t r = 0; r < rows.count; r++)
        of_row[r] = factor_of(&rows, &rows.rows[r], &others);
    for (uint32_t d = 0; d < facts->device_count; d++)
        made[d] = COUNTERPART_NONE;
    for (uint32_t c = 0; c < rows.calls->count; c++)
        place(&rows, c, of_row[rows.row_of_call[c]], made);
    return true;
}
