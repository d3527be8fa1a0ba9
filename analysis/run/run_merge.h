// SPDX-License-Identifier: Apache-2.0
// Joins equal rows of the ranks' tables into rows of the run, as the ranks arrive one by one.
#ifndef ANALYSIS_RUN_MERGE_H
#define ANALYSIS_RUN_MERGE_H

#include "analysis/run/run.h"

// How a column of the run is derived from a column of the ranks.
enum merge_rule {
    MERGE_FIRST,        // of the first row
    MERGE_HEAVIEST,     // of the row with the largest weight
    MERGE_SUM,          // of whole numbers; nulls are ignored; saturates at INT64_MAX
    MERGE_MIN,          // of whole numbers; 0 if all are null
    MERGE_MAX,          // same
    MERGE_MEDIAN,       // lower median; if all are null, 0, or null for a number with a fraction
    MERGE_HEADLINE,     // of the headline rank; null if it has no such row
    MERGE_WINDOW_SHARE, // the sum divided by the windows of all ranks
    MERGE_BUSY_SHARE,   // the sum divided by their busy time
    MERGE_WEIGHT_SHARE, // the sum divided by the sum of the weight
    MERGE_WEIGHT_EACH,  // the sum of the weight divided by the sum
    MERGE_RANKS,        // ranks that have such a row
    MERGE_SPREAD,       // five columns: minimum, median, maximum, variation, and the heaviest row's
                        // rank
    MERGE_LATER,        // null: filled once the ranks are joined
};

struct merge_column {
    unsigned to; // column of the run's table
    enum merge_rule rule;
    unsigned from; // column of the ranks' table
};

struct merge_table {
    const struct table_desc *from, *to;
    const unsigned *keys; // columns of `from`, 0-terminated; may include hidden ones
    unsigned weight;      // column of whole numbers: rows with most come first; 0: by keys
    const struct merge_column *columns; // all of `to`, in its order
};

// The tables that are joined, NULL-terminated (run_merge_tables.c).
extern const struct merge_table *const merge_tables[];

struct run_merge;

// Starts joining all of merge_tables. NULL with ERR_LIMIT. Pair with run_merge_free.
struct run_merge *run_merge_new(const struct run *run, struct err *err);
void run_merge_free(struct run_merge *merge);

// Takes the tables of a rank; ranks must ascend.
MUST_CHECK bool run_merge_take(struct run_merge *merge, size_t rank, const struct report *report,
                               struct err *err);

// Writes the joined rows into the run's report, in the order of merge_tables.
MUST_CHECK bool run_merge_write(struct run_merge *merge, struct err *err);

#endif
