// SPDX-License-Identifier: Apache-2.0
// Which tables of the ranks are joined, and by what rule each column.
#include "analysis/run/run_merge.h"
#include "analysis/report/tables.h"

static const struct merge_column kernels_columns[] = {
    {RUN_KERNELS_NAME, MERGE_FIRST, KERNELS_NAME},
    {RUN_KERNELS_CLASS, MERGE_HEAVIEST, KERNELS_CLASS},
    {RUN_KERNELS_CATEGORY, MERGE_HEAVIEST, KERNELS_CATEGORY},
    {RUN_KERNELS_OP, MERGE_HEAVIEST, KERNELS_OP},
    {RUN_KERNELS_RANKS, MERGE_RANKS, KERNELS_CALLS},
    {RUN_KERNELS_CALLS, MERGE_SUM, KERNELS_CALLS},
    {RUN_KERNELS_CALLS_PER_STEP, MERGE_HEADLINE, KERNELS_CALLS_PER_STEP},
    {RUN_KERNELS_TOTAL_NS, MERGE_SUM, KERNELS_TOTAL_NS},
    {RUN_KERNELS_OWNED_NS, MERGE_SUM, KERNELS_OWNED_NS},
    {RUN_KERNELS_EXPOSED_NS, MERGE_SUM, KERNELS_EXPOSED_NS},
    {RUN_KERNELS_WINDOW_SHARE, MERGE_WINDOW_SHARE, KERNELS_TOTAL_NS},
    {RUN_KERNELS_BUSY_SHARE, MERGE_BUSY_SHARE, KERNELS_TOTAL_NS},
    {RUN_KERNELS_PER_STEP_NS, MERGE_HEADLINE, KERNELS_PER_STEP_NS},
    {RUN_KERNELS_MIN_NS, MERGE_MIN, KERNELS_MIN_NS},
    {RUN_KERNELS_MEAN_NS, MERGE_MEDIAN, KERNELS_MEAN_NS},
    {RUN_KERNELS_MEDIAN_NS, MERGE_MEDIAN, KERNELS_MEDIAN_NS},
    {RUN_KERNELS_P95_NS, MERGE_MEDIAN, KERNELS_P95_NS},
    {RUN_KERNELS_P99_NS, MERGE_MEDIAN, KERNELS_P99_NS},
    {RUN_KERNELS_MAX_NS, MERGE_MAX, KERNELS_MAX_NS},
    {RUN_KERNELS_STDDEV_NS, MERGE_MEDIAN, KERNELS_STDDEV_NS},
    {RUN_KERNELS_RANK_MIN_NS, MERGE_SPREAD, KERNELS_TOTAL_NS}, // to slowest_rank
    {RUN_KERNELS_GRID, MERGE_HEAVIEST, KERNELS_GRID},
    {RUN_KERNELS_BLOCK, MERGE_HEAVIEST, KERNELS_BLOCK},
    {RUN_KERNELS_REGISTERS, MERGE_HEAVIEST, KERNELS_REGISTERS},
    {RUN_KERNELS_SHARED_BYTES, MERGE_HEAVIEST, KERNELS_SHARED_BYTES},
    {RUN_KERNELS_OCCUPANCY_PERCENT, MERGE_HEAVIEST, KERNELS_OCCUPANCY_PERCENT},
};
static const unsigned kernels_keys[] = {KERNELS_NAME, 0};
static const struct merge_table kernels = {&table_kernels, &table_run_kernels, kernels_keys,
                                           KERNELS_TOTAL_NS, kernels_columns};

static const struct merge_column collectives_columns[] = {
    {RUN_COLLECTIVES_COLLECTIVE, MERGE_FIRST, COLLECTIVES_COLLECTIVE},
    {RUN_COLLECTIVES_KIND, MERGE_FIRST, COLLECTIVES_KIND},
    {RUN_COLLECTIVES_DTYPE, MERGE_FIRST, COLLECTIVES_DTYPE},
    {RUN_COLLECTIVES_IN_ELEMS, MERGE_FIRST, COLLECTIVES_IN_ELEMS},
    {RUN_COLLECTIVES_OUT_ELEMS, MERGE_FIRST, COLLECTIVES_OUT_ELEMS},
    {RUN_COLLECTIVES_GROUP_SIZE, MERGE_FIRST, COLLECTIVES_GROUP_SIZE},
    {RUN_COLLECTIVES_PROCESS_GROUP, MERGE_FIRST, COLLECTIVES_PROCESS_GROUP},
    {RUN_COLLECTIVES_CALLS, MERGE_SUM, COLLECTIVES_CALLS},
    {RUN_COLLECTIVES_TOTAL_NS, MERGE_SUM, COLLECTIVES_TOTAL_NS},
    {RUN_COLLECTIVES_MIN_NS, MERGE_MIN, COLLECTIVES_MIN_NS},
    {RUN_COLLECTIVES_MEDIAN_NS, MERGE_MEDIAN, COLLECTIVES_MEDIAN_NS},
    {RUN_COLLECTIVES_P95_NS, MERGE_MEDIAN, COLLECTIVES_P95_NS},
    {RUN_COLLECTIVES_MAX_NS, MERGE_MAX, COLLECTIVES_MAX_NS},
    {RUN_COLLECTIVES_BYTES, MERGE_FIRST, COLLECTIVES_BYTES},
    {RUN_COLLECTIVES_ALGO_GBPS, MERGE_MEDIAN, COLLECTIVES_ALGO_GBPS},
    {RUN_COLLECTIVES_BUS_GBPS, MERGE_MEDIAN, COLLECTIVES_BUS_GBPS},
    {RUN_COLLECTIVES_EXPOSED_NS, MERGE_SUM, COLLECTIVES_EXPOSED_NS},
    {RUN_COLLECTIVES_EXPOSED_SHARE, MERGE_WEIGHT_SHARE, COLLECTIVES_EXPOSED_NS},
    {RUN_COLLECTIVES_KERNEL, MERGE_FIRST, COLLECTIVES_KERNEL},
    {RUN_COLLECTIVES_RANKS, MERGE_RANKS, COLLECTIVES_CALLS},
};
static const unsigned collectives_keys[] = {
    COLLECTIVES_COLLECTIVE,    COLLECTIVES_KIND,      COLLECTIVES_DTYPE,
    COLLECTIVES_IN_ELEMS,      COLLECTIVES_OUT_ELEMS, COLLECTIVES_GROUP_SIZE,
    COLLECTIVES_PROCESS_GROUP, COLLECTIVES_KERNEL,    0};
static const struct merge_table collectives = {&table_collectives, &table_run_collectives,
                                               collectives_keys, COLLECTIVES_TOTAL_NS,
                                               collectives_columns};

static const struct merge_column short_columns[] = {
    {RUN_SHORT_KERNELS_OP, MERGE_FIRST, SHORT_KERNELS_OP},
    {RUN_SHORT_KERNELS_CALLS, MERGE_SUM, SHORT_KERNELS_CALLS},
    {RUN_SHORT_KERNELS_SHORT_CALLS, MERGE_SUM, SHORT_KERNELS_SHORT_CALLS},
    {RUN_SHORT_KERNELS_TOTAL_NS, MERGE_SUM, SHORT_KERNELS_TOTAL_NS},
    {RUN_SHORT_KERNELS_SHORT_NS, MERGE_SUM, SHORT_KERNELS_SHORT_NS},
};
static const unsigned short_keys[] = {SHORT_KERNELS_OP, 0};
static const struct merge_table short_kernels = {&table_short_kernels, &table_run_short_kernels,
                                                 short_keys, SHORT_KERNELS_SHORT_NS, short_columns};

static const struct merge_column classes_columns[] = {
    {RUN_CLASSES_CLASS, MERGE_FIRST, CLASSES_CLASS},
    {RUN_CLASSES_EVENTS, MERGE_SUM, CLASSES_EVENTS},
    {RUN_CLASSES_SUM_NS, MERGE_SUM, CLASSES_SUM_NS},
};
static const unsigned classes_keys[] = {CLASSES_CLASS, 0};
static const struct merge_table classes = {&table_classes, &table_run_classes, classes_keys, 0,
                                           classes_columns};

static const struct merge_column environment_columns[] = {
    {RUN_ENVIRONMENT_KEY, MERGE_FIRST, ENVIRONMENT_KEY},
    {RUN_ENVIRONMENT_VALUE, MERGE_FIRST, ENVIRONMENT_VALUE},
    {RUN_ENVIRONMENT_RANKS, MERGE_RANKS, ENVIRONMENT_KEY},
};
static const unsigned environment_keys[] = {ENVIRONMENT_KEY, ENVIRONMENT_VALUE, 0};
static const struct merge_table environment = {&table_environment, &table_run_environment,
                                               environment_keys, 0, environment_columns};

const struct merge_table *const merge_tables[] = {&kernels, &collectives, &short_kernels,
                                                  &classes, &environment, NULL};
