// SPDX-License-Identifier: Apache-2.0
// How much memory of each GPU training a transformer takes: from counts alone, before anything
// runs.
#ifndef ANALYSIS_MEMORY_PLAN_H
#define ANALYSIS_MEMORY_PLAN_H

#include "analysis/stats/count.h"
#include "ingest/base/arena.h"

enum plan_precision {
    PLAN_FP32,
    PLAN_MIXED_BF16,
    PLAN_MIXED_FP16,
    PLAN_BF16,
    PLAN_FP8,        // matrix products in 8 bits, of copies of 16-bit weights
    PLAN_FP8_WEIGHTS // the weights themselves have 8 bits
};
enum plan_optimizer {
    PLAN_ADAM,
    PLAN_ADAMW,
    PLAN_ADAM_8BIT,
    PLAN_LION,
    PLAN_SGD_MOMENTUM,
    PLAN_SGD,
    PLAN_NO_OPTIMIZER // nothing is trained: the weights alone
};
enum plan_strategy { PLAN_DDP, PLAN_ZERO1, PLAN_ZERO2, PLAN_ZERO3 };
enum plan_recompute { PLAN_KEEP_ALL, PLAN_SELECTIVE, PLAN_FULL };

// What the values are called in requests, in the order of the enums, NULL last.
extern const char *const plan_precision_words[];
extern const char *const plan_optimizer_words[];
extern const char *const plan_strategy_words[];
extern const char *const plan_recompute_words[];

// The model. Of these only the parameters are needed; without the others what a layer keeps for
// the backward pass is not known.
struct plan_model {
    double parameters;
    int64_t layers, hidden, heads, seq_len; // 0: not told
    int64_t vocab;
};

// The job that trains it.
struct plan_job {
    enum plan_precision precision;
    enum plan_optimizer optimizer;
    enum plan_strategy strategy;
    enum plan_recompute recompute;
    bool fp32_gradients;    // gradients are added up in 32 bits though weights have 16
    bool flash_attention;   // nothing of the size seq_len x seq_len is ever stored
    bool sequence_parallel; // norms and dropouts are split over tp, too
    int64_t dp, tp, pp;     // how many GPUs share data, tensors, layers
    int64_t micro_batch;    // sequences that pass through the model together
    int64_t micro_batches;  // of a step, per pipeline; 0: at least as many as can be in flight
    int64_t interleave;     // chunks of layers per pipeline stage
    double overhead_bytes;  // an allowance for everything that no formula tells
};

enum plan_part_kind {
    PLAN_PARAMETERS,
    PLAN_GRADIENTS,
    PLAN_MASTER,
    PLAN_OPTIMIZER,
    PLAN_ACTIVATIONS,
    PLAN_OUTPUT,
    PLAN_RECOMPUTED,
    PLAN_GATHERED,
    PLAN_OVERHEAD,
    PLAN_PARTS
};

struct plan_part {
    const char *name;
    int64_t bytes;    // of one GPU, the fullest one; COUNT_UNKNOWN when the model tells too little
    const char *help; // what it is
    const char *formula; // in letters, explained in analysis/PLAN.md
    const char *worked;  // the same with the numbers put in
    const char *source;  // where the formula comes from
};

struct memory_plan {
    struct plan_part parts[PLAN_PARTS];
    int64_t gpus; // dp x tp x pp
    int64_t
        bytes_per_parameter;    // weights, gradients, master copy and optimizer, before sharing out
    int64_t model_static_bytes; // the same of the whole model
    int64_t static_bytes;       // of one GPU: the first four parts
    int64_t total_bytes;        // of one GPU: all parts that are known
    bool complete;              // all are
};

// ERR_USAGE naming the parameter of the API when the numbers do not go together. Texts live in
// arena.
MUST_CHECK bool memory_plan_make(const struct plan_model *model, const struct plan_job *job,
                                 struct arena *arena, struct memory_plan *plan, struct err *err);

#endif
