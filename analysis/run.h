// SPDX-License-Identifier: Apache-2.0
// The ranks of a run on their way into its tables.
#ifndef ANALYSIS_RUN_H
#define ANALYSIS_RUN_H

#include "analysis/analysis.h"
#include "analysis/parts.h"

struct run {
    const struct rank_report *ranks; // ascending by rank
    size_t count;
    size_t headline, slowest;   // indices
    int64_t window_ns, busy_ns; // of the whole windows, summed over the ranks
    struct report *report;      // to fill
    struct arena *scratch;
    struct budget *budget; // of what is made on the way
};

// One row of one rank's table.
struct run_source {
    uint32_t rank; // index
    uint32_t row;
};

// Tables whose rows are those of the ranks, one after the other (run_copy.c).
MUST_CHECK bool run_copy(const struct run *run, struct err *err);

// Tables whose rows join those of several ranks (run_merge.c).
MUST_CHECK bool run_merge(const struct run *run, struct err *err);

// The number in a rank's summary, or fallback where it is null.
int64_t run_summary_i64(const struct run *run, size_t rank, const char *column, int64_t fallback);

// The rows of a rank's table; NULL when it has none.
const struct table *run_table(const struct run *run, size_t rank, const char *name);

// Appends all cells of a row from column `first` on.
void run_append(struct row *row, const struct table *table, size_t index, unsigned first);

#endif
