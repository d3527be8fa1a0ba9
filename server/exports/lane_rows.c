// SPDX-License-Identifier: Apache-2.0
#include "server/exports/lane_rows.h"

#include "ingest/base/budget.h"

#include <stdlib.h>

// Ends the slices of a row that are over by then.
static void pop(struct lane_rows *rows, uint32_t row, int64_t now_ns, const struct lane_ends *ends)
{
    struct lane_row *at = &rows->rows[row];
    while (at->depth && at->ends[at->depth - 1] <= now_ns) {
        at->depth--;
        ends->end(ends->context, row, at->ends[at->depth]);
    }
}

static bool push(struct lane_row *row, int64_t end_ns)
{
    int64_t *grown = budget_room(NULL, row->ends, &row->room, row->depth + 1, sizeof *grown, NULL);
    if (!grown)
        return false;
    row->ends = grown;
    row->ends[row->depth++] = end_ns;
    return true;
}

static bool add_row(struct lane_rows *rows)
{
    struct lane_row *grown =
        budget_room(NULL, rows->rows, &rows->room, (size_t)rows->count + 1, sizeof *grown, NULL);
    if (!grown)
        return false;
    rows->rows = grown;
    rows->rows[rows->count++] = (struct lane_row){0};
    return true;
}

static bool fits(const struct lane_rows *rows, uint32_t row, int64_t end_ns)
{
    const struct lane_row *at = &rows->rows[row];
    return at->depth == 0 || (rows->nests && at->ends[at->depth - 1] >= end_ns);
}

bool lane_rows_place(struct lane_rows *rows, int64_t begin_ns, int64_t end_ns,
                     const struct lane_ends *ends, uint32_t *row)
{
    for (*row = 0; *row < rows->count; (*row)++) {
        pop(rows, *row, begin_ns, ends);
        if (fits(rows, *row, end_ns))
            return push(&rows->rows[*row], end_ns);
    }
    if (rows->count == LANE_MOST_ROWS) {
        *row = LANE_NO_ROW;
        return true;
    }
    return add_row(rows) && push(&rows->rows[*row], end_ns);
}

void lane_rows_finish(struct lane_rows *rows, const struct lane_ends *ends)
{
    for (uint32_t row = 0; row < rows->count; row++) {
        pop(rows, row, INT64_MAX, ends);
        free(rows->rows[row].ends);
    }
    rows->count = 0;
}

void lane_rows_free(struct lane_rows *rows)
{
    for (uint32_t row = 0; row < rows->count; row++)
        free(rows->rows[row].ends);
    free(rows->rows);
    *rows = (struct lane_rows){0};
}
