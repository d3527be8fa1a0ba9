// SPDX-License-Identifier: Apache-2.0
// How much memory training a transformer, or generating with it, takes on each GPU: from counts
// alone, before anything runs.
#ifndef ANALYSIS_MEMORY_PLAN_H
#define ANALYSIS_MEMORY_PLAN_H

#include "analysis/stats/count.h"
#include "ingest/base/arena.h"

enum plan_precision {
    PLAN_FP32,
    PLAN_MIXED_BF16,
    PLAN_MIXED_FP16,
    PLAN_BF16,
    PLAN_FP8,        // 8-bit matrix products, on copies of 16-bit weights
    PLAN_FP8_WEIGHTS // the weights themselves have 8 bits
};
enum plan_optimizer {
    PLAN_ADAM,
    PLAN_ADAMW,
    PLAN_ADAM_8BIT,
    PLAN_LION,
    PLAN_SGD_MOMENTUM,
    PLAN_SGD,
    PLAN_NO_OPTIMIZER // nothing is trained: only weights
};
enum plan_strategy { PLAN_DDP, PLAN_ZERO1, PLAN_ZERO2, PLAN_ZERO3 };
enum plan_recompute { PLAN_KEEP_ALL, PLAN_SELECTIVE, PLAN_FULL };

// Names of the values in requests, in the order of the enums, NULL last.
extern const char *const plan_precision_words[];
extern const char *const plan_optimizer_words[];
extern const char *const plan_strategy_words[];
extern const char *const plan_recompute_words[];

// The model. Only the parameters are required; without the others what a layer keeps for
// the backward pass is unknown.
struct plan_model {
    double parameters;
    int64_t layers, hidden, heads, seq_len; // 0: not given
    int64_t kv_heads;                       // 0: as many as heads
    int64_t vocab;
};

// The job that trains it.
struct plan_job {
    enum plan_precision precision;
    enum plan_optimizer optimizer;
    enum plan_strategy strategy;
    enum plan_recompute recompute;
    bool fp32_gradients;    // gradients are accumulated in 32 bits though weights have 16
    bool flash_attention;   // nothing of the size seq_len x seq_len is ever stored
    bool sequence_parallel; // norms and dropouts are split over tp, too
    int64_t dp, tp, pp;     // how many GPUs share data, tensors, layers
    int64_t micro_batch;    // sequences that pass through the model together
    int64_t micro_batches;  // per step and pipeline; 0: at least as many as can be in flight
    int64_t interleave;     // chunks of layers per pipeline stage
    int64_t cached;         // sequences whose keys and values generation keeps at once
    bool fp8_cache;         // in 8 bits each
    double overhead_bytes;  // an allowance for everything the formulas do not cover
};

enum plan_part_kind {
    PLAN_PARAMETERS,
    PLAN_GRADIENTS,
    PLAN_MASTER,
    PLAN_OPTIMIZER,
    PLAN_ACTIVATIONS,
    PLAN_OUTPUT,
    PLAN_RECOMPUTED,
    PLAN_CACHE,
    PLAN_GATHERED,
    PLAN_OVERHEAD,
    PLAN_PARTS
};

struct plan_part {
    const char *name;
    int64_t bytes;       // of one GPU, the fullest one; COUNT_UNKNOWN if the model gives too little
    const char *help;    // what it is
    const char *formula; // in letters, explained in analysis/PLAN.md
    const char *worked;  // same with the numbers filled in
    const char *source;  // where the formula comes from
};

struct memory_plan {
    struct plan_part parts[PLAN_PARTS];
    int64_t gpus;                // dp x tp x pp
    int64_t bytes_per_parameter; // weights, gradients, master copy and optimizer, before splitting
    int64_t model_static_bytes;  // same for the whole model
    int64_t static_bytes;        // of one GPU: the first four parts
    int64_t total_bytes;         // of one GPU: all known parts
    bool complete;               // all are known
};

// ERR_USAGE, naming the API's parameter, if the numbers are inconsistent. Texts live in arena.
MUST_CHECK bool memory_plan_make(const struct plan_model *model, const struct plan_job *job,
                                 struct arena *arena, struct memory_plan *plan, struct err *err);

#endif
