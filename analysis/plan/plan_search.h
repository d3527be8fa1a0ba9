// SPDX-License-Identifier: Apache-2.0
// Plans that fit: the largest model on a GPU, and the ways to share a model out.
#ifndef ANALYSIS_PLAN_SEARCH_H
#define ANALYSIS_PLAN_SEARCH_H

#include "analysis/plan/memory_plan.h"

// The parameters of the largest model of this shape that fits into a number of bytes of each GPU:
// with as many layers and heads, its width grows with the square root of the parameters. 0: none.
// Without the shape, what depends on it is left out, as in the plan. ERR_LIMIT.
MUST_CHECK bool plan_largest(const struct plan_model *model, const struct plan_job *job,
                             int64_t bytes, double *parameters, struct err *err);

struct plan_setup {
    struct plan_job job;
    int64_t total_bytes;
    bool complete; // all parts are known
};

enum { PLAN_MOST_SETUPS = 1024 };

struct plan_search {
    const struct plan_model *model;
    const struct plan_job *job;
    int64_t gpus, bytes; // to share it out over, and the memory of each
};

// All ways to share the model out over the GPUs: those that fit into `bytes` first, and of
// these the ones that recompute least, split least and shard least; then the others by what they
// need. Counts are powers of two that divide what they split, tp at most 8. ERR_LIMIT.
MUST_CHECK bool plan_setups(const struct plan_search *asked, struct arena *arena,
                            struct plan_setup **setups, size_t *count, struct err *err);

#endif
