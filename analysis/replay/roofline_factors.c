// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/roofline_factors.h"

#include "analysis/work/work_roofline.h"

// Sets the factor of the device events of an operator's call.
static void place(const struct facts *facts, const struct work_rows *rows, uint32_t c, double left,
                  double *factors)
{
    const struct op_call *call = &rows->calls->calls[c];
    for (uint32_t i = call->from; i < call->to; i++) {
        uint32_t d = facts->launches[rows->calls->order[i]].first;
        for (; d != FACTS_NONE; d = facts->devices[d].next)
            factors[d] = left;
    }
}

bool roofline_factors(const struct facts *facts, struct arena *arena, const double **factors,
                      struct err *err)
{
    struct work_rows rows;
    double *made = arena_room(arena, (size_t)facts->device_count + 1, sizeof *made, err);
    *factors = made;
    if (!made || !work_rows_make(facts, arena, &rows, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        made[d] = 1;
    for (uint32_t c = 0; c < rows.calls->count; c++) {
        const struct work_row *row = &rows.rows[rows.row_of_call[c]];
        double busy_ns = (double)row->busy_ns;
        double best_ns = work_roofline(row, rows.peak).total_ns; // not a number: unknown
        if (best_ns > 0 && best_ns < busy_ns && !row->communicates)
            place(facts, &rows, c, best_ns / busy_ns, made);
    }
    return true;
}
