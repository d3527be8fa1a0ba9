// SPDX-License-Identifier: Apache-2.0
// Which tables of the ranks are joined, and by what rule each column.
#include "analysis/run/run_merge.h"
#include "analysis/report/tables.h"

#define SAME(rule) \
    {              \
        rule, NULL \
    }

static const struct merge_column kernels_columns[] = {
    SAME(MERGE_FIRST),                // name
    SAME(MERGE_HEAVIEST),             // class
    SAME(MERGE_HEAVIEST),             // category
    SAME(MERGE_HEAVIEST),             // op
    {MERGE_RANKS, "calls"},           // ranks
    SAME(MERGE_SUM),                  // calls
    SAME(MERGE_HEADLINE),             // calls_per_step
    SAME(MERGE_SUM),                  // total_ns
    SAME(MERGE_SUM),                  // owned_ns
    SAME(MERGE_SUM),                  // exposed_ns
    {MERGE_WINDOW_SHARE, "total_ns"}, // window_share
    {MERGE_BUSY_SHARE, "total_ns"},   // busy_share
    SAME(MERGE_HEADLINE),             // per_step_ns
    SAME(MERGE_MIN),                  // min_ns
    SAME(MERGE_MEDIAN),               // mean_ns
    SAME(MERGE_MEDIAN),               // median_ns
    SAME(MERGE_MEDIAN),               // p95_ns
    SAME(MERGE_MEDIAN),               // p99_ns
    SAME(MERGE_MAX),                  // max_ns
    SAME(MERGE_MEDIAN),               // stddev_ns
    {MERGE_SPREAD, "total_ns"},       // rank_min_ns to slowest_rank
    SAME(MERGE_HEAVIEST),             // grid
    SAME(MERGE_HEAVIEST),             // block
    SAME(MERGE_HEAVIEST),             // registers
    SAME(MERGE_HEAVIEST),             // shared_bytes
    SAME(MERGE_HEAVIEST),             // occupancy_percent
};
static const char *const kernels_keys[] = {"name", NULL};
static const struct merge_table kernels = {&table_kernels, &table_run_kernels, kernels_keys,
                                           "total_ns", kernels_columns};

static const struct merge_column ops_columns[] = {
    SAME(MERGE_FIRST),     // name
    SAME(MERGE_SUM),       // launching_calls
    SAME(MERGE_SUM),       // total_ns
    {MERGE_RANKS, "name"}, // ranks
};
static const char *const ops_keys[] = {"name", NULL};
static const struct merge_table ops = {&table_ops, &table_run_ops, ops_keys, "total_ns",
                                       ops_columns};

static const struct merge_column collectives_columns[] = {
    SAME(MERGE_FIRST),                  // collective
    SAME(MERGE_FIRST),                  // kind
    SAME(MERGE_FIRST),                  // dtype
    SAME(MERGE_FIRST),                  // in_elems
    SAME(MERGE_FIRST),                  // out_elems
    SAME(MERGE_FIRST),                  // group_size
    SAME(MERGE_FIRST),                  // process_group
    SAME(MERGE_SUM),                    // calls
    SAME(MERGE_SUM),                    // total_ns
    SAME(MERGE_MIN),                    // min_ns
    SAME(MERGE_MEDIAN),                 // median_ns
    SAME(MERGE_MEDIAN),                 // p95_ns
    SAME(MERGE_MAX),                    // max_ns
    SAME(MERGE_FIRST),                  // bytes
    SAME(MERGE_MEDIAN),                 // algo_gbps
    SAME(MERGE_MEDIAN),                 // bus_gbps
    SAME(MERGE_SUM),                    // exposed_ns
    {MERGE_WEIGHT_SHARE, "exposed_ns"}, // exposed_share
    SAME(MERGE_FIRST),                  // kernel
    {MERGE_RANKS, "calls"},             // ranks
};
static const char *const collectives_keys[] = {"collective",    "kind",      "dtype",
                                               "in_elems",      "out_elems", "group_size",
                                               "process_group", "kernel",    NULL};
static const struct merge_table collectives = {&table_collectives, &table_run_collectives,
                                               collectives_keys, "total_ns", collectives_columns};

static const struct merge_column short_columns[] = {
    SAME(MERGE_FIRST), // op
    SAME(MERGE_SUM),   // calls
    SAME(MERGE_SUM),   // short_calls
    SAME(MERGE_SUM),   // total_ns
    SAME(MERGE_SUM),   // short_ns
};
static const char *const short_keys[] = {"op", NULL};
static const struct merge_table short_kernels = {&table_short_kernels, &table_run_short_kernels,
                                                 short_keys, "short_ns", short_columns};

static const struct merge_column classes_columns[] = {
    SAME(MERGE_FIRST), // class
    SAME(MERGE_SUM),   // events
    SAME(MERGE_SUM),   // sum_ns
};
static const char *const classes_keys[] = {"class", NULL};
static const struct merge_table classes = {&table_classes, &table_run_classes, classes_keys, NULL,
                                           classes_columns};

static const struct merge_column environment_columns[] = {
    SAME(MERGE_FIRST),    // key
    SAME(MERGE_FIRST),    // value
    {MERGE_RANKS, "key"}, // ranks
};
static const char *const environment_keys[] = {"key", "value", NULL};
static const struct merge_table environment = {&table_environment, &table_run_environment,
                                               environment_keys, NULL, environment_columns};

const struct merge_table *const merge_tables[] = {
    &kernels, &ops, &collectives, &short_kernels, &classes, &environment, NULL};
