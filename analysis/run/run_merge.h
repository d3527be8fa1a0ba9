// SPDX-License-Identifier: Apache-2.0
// Joins equal rows of the ranks' tables into rows of the run, as the ranks come one by one.
#ifndef ANALYSIS_RUN_MERGE_H
#define ANALYSIS_RUN_MERGE_H

#include "analysis/run/run.h"

// How a column of the run follows from a column of the ranks.
enum merge_rule {
    MERGE_FIRST,        // of the first row that came
    MERGE_HEAVIEST,     // of the row with the largest weight
    MERGE_SUM,          // of whole numbers; nulls count nothing; ends at INT64_MAX
    MERGE_MIN,          // of whole numbers; 0 when all are null
    MERGE_MAX,          // likewise
    MERGE_MEDIAN,       // lower median; 0, or null for a number with a fraction, when all are null
    MERGE_HEADLINE,     // of the headline rank; null when it has no such row
    MERGE_WINDOW_SHARE, // the sum divided by the windows of all ranks
    MERGE_BUSY_SHARE,   // the sum divided by their busy time
    MERGE_WEIGHT_SHARE, // the sum divided by the sum of the weight
    MERGE_RANKS,        // ranks that have such a row
    MERGE_SPREAD,       // five columns: least, median, most, variation, and the heaviest row's rank
};

struct merge_column {
    enum merge_rule rule;
    const char *from; // column of the ranks' table; NULL: as the run's column is called
};

struct merge_table {
    const struct table_desc *from, *to;
    const char *const *keys; // columns of `from`, NULL-terminated; also those not shown
    const char *weight;      // column of whole numbers: rows with most come first; NULL: by keys
    const struct merge_column *columns; // in the order of those of `to`
};

// The tables that are joined, NULL-terminated (run_merge_tables.c).
extern const struct merge_table *const merge_tables[];

struct run_merge;

// Begins to join all of merge_tables. NULL with ERR_LIMIT. Pair with run_merge_free.
struct run_merge *run_merge_new(const struct run *run, struct err *err);
void run_merge_free(struct run_merge *merge);

// Takes the tables of a rank; ranks come in ascending order.
MUST_CHECK bool run_merge_take(struct run_merge *merge, size_t rank, const struct report *report,
                               struct err *err);

// Writes the joined rows into the run's report, in the order of merge_tables.
MUST_CHECK bool run_merge_write(struct run_merge *merge, struct err *err);

#endif
