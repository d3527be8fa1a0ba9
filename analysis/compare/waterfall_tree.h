// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the waterfall: the parts of both sides, matched, and their tree.
#ifndef ANALYSIS_WATERFALL_TREE_H
#define ANALYSIS_WATERFALL_TREE_H

#include "analysis/compare/compare_pair.h"
#include "analysis/stats/groups.h"
#include "ingest/trace/strtab.h"

enum level { LEVEL_BAR, LEVEL_CATEGORY, LEVEL_OP, LEVEL_SHAPE, LEVEL_KERNEL, LEVEL_COUNT };

// One kernel of one operator, shape and module, summed over the runs of each side, which weigh the
// same.
struct leaf {
    uint32_t bar, shape; // shape: 0 none, else 1 + index into the pairs of (dims, types)
    str_id category, op, module, kernel;
    int64_t ns[SIDES], calls[SIDES];
    bool has[SIDES];
    enum rung rung;
    uint64_t kernel_key;        // equal where it is the same kernel, or a copy in one direction
    uint64_t op_key, shape_key; // leaves with equal keys are in one row of that level
    uint32_t node;              // on the level of kernels
};

// A row of a run's parts: its time in that run, as measured.
struct reading {
    uint32_t leaf, run; // the base's runs first, then the candidate's
    int64_t ns;
};

struct fall_node {
    uint32_t bar, shape;
    str_id category, op;
    str_id kernel[SIDES]; // the one with most time; 0: none
    enum rung rung;       // the weakest among its leaves
    int64_t total_ns[SIDES], calls[SIDES];
    int64_t ns[SIDES];     // per step
    uint32_t parent;       // index in the level above, until children are sorted
    uint32_t first, count; // of the children in the level below
    double p_value, q_value;
    enum verdict verdict;
    bool relevant;
};

struct fall_level {
    struct fall_node *at;
    size_t count;
};

struct fall {
    const struct pair *pair;
    struct budget *budget;
    struct strtab texts;
    struct groups shapes, places, keys; // (dims, types), (bar and category, op and shape), leaves
    struct leaf *leaves;
    size_t leaf_count;
    struct reading *readings;
    size_t reading_count;
    struct leaf **order; // leaves by keys, once matched
    struct fall_level levels[LEVEL_COUNT];
};

// Reads the parts of all runs into leaves and readings (waterfall_rows.c).
MUST_CHECK bool waterfall_read(struct fall *fall, struct err *err);

// Climbs the ladder: fills rung and keys of the leaves, and order (waterfall_match.c).
MUST_CHECK bool waterfall_match(struct fall *fall, struct err *err);

// Builds the levels and distributes the times per step (waterfall_nodes.c).
MUST_CHECK bool waterfall_build(struct fall *fall, struct err *err);

// Marks what differs by more than noise (waterfall_noise.c).
MUST_CHECK bool waterfall_judge(struct fall *fall, struct err *err);

#endif
