// SPDX-License-Identifier: Apache-2.0
// What the memory planner is asked: a model and a job, from counts in the address.
#ifndef SERVER_PLAN_REQUEST_H
#define SERVER_PLAN_REQUEST_H

#include "analysis/names/gpu_memory.h"
#include "analysis/plan/memory_plan.h"
#include "server/api/api_parts.h"

// Names of the parameters that are read, for lists of those that are known: without and with how
// the model is shared out.
#define PLAN_MODEL_NAMES                                                                          \
    "parameters", "precision", "gradients", "optimizer", "layers", "hidden", "heads", "kv_heads", \
        "seq_len", "vocab", "micro_batch", "attention", "micro_batches", "sequence_parallel",     \
        "overhead_gb", "cached", "cache", "gpu", "memory_gb"
#define PLAN_REQUEST_NAMES PLAN_MODEL_NAMES, "strategy", "dp", "tp", "pp", "recompute", "interleave"

struct plan_request {
    struct plan_model model;
    struct plan_job job;
    double memory_bytes; // of a GPU that is not listed; 0: not given
};

// ERR_USAGE for what makes no sense and for parameters that are not `known`.
MUST_CHECK bool plan_request_read(const struct query *query, const char *const *known,
                                  struct plan_request *plan, struct err *err);

// ERR_USAGE, with the names of those that are listed.
MUST_CHECK bool plan_request_refuse_gpu(struct request *request, struct response *response,
                                        struct str name, struct err *err);

#endif
