// SPDX-License-Identifier: Apache-2.0
// Shared by run_merge.c, which joins, and run_merge_write.c, which writes.
#ifndef ANALYSIS_RUN_MERGE_INNER_H
#define ANALYSIS_RUN_MERGE_INNER_H

#include "analysis/run/run_merge.h"
#include "analysis/stats/sort.h"
#include "ingest/trace/strtab.h"

enum { MAX_MERGES = 8, SPREAD_WIDTH = 5 };

// One column of a joined row: a number, the number's bits, or a text's id.
struct slot {
    bool known;
    int64_t value;
};

// One joined row; its slots are stored separately.
struct joined {
    int64_t weight, heaviest; // sum, and largest of a row
    uint32_t heaviest_rank, last_rank, ranks;
    bool headline; // the headline rank's row was seen
};

// One table on its way.
struct merging {
    const struct merge_table *what;
    unsigned width;                   // columns
    unsigned from[TABLE_MAX_COLUMNS]; // their places in the ranks' table
    int kept[TABLE_MAX_COLUMNS];      // where rows keep their value, -1: not kept
    unsigned kept_count;
    struct strtab keys, texts;
    struct joined *joined; // by number of the key
    struct slot *slots;    // width per key
    struct keyed *rows;    // key, rank and number
    int64_t *values;       // kept_count + 1 per row: a bit for each known one, then the values
    size_t joined_cap, slots_cap, rows_cap, values_cap;
    size_t key_count, row_count;
};

struct run_merge {
    const struct run *run;
    struct buf key;
    struct merging merges[MAX_MERGES];
    size_t count;
};

// Maps numbers with a fraction to whole ones of the same order, and back.
static inline int64_t ordered_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? (int64_t)((uint64_t)bits ^ INT64_MAX) : bits;
}

static inline double from_ordered_bits(int64_t bits)
{
    double value;
    bits = bits < 0 ? (int64_t)((uint64_t)bits ^ INT64_MAX) : bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
