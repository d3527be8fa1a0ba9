// SPDX-License-Identifier: Apache-2.0
// The stages of a pipeline: which rank is which, the number of micro-batches, and how long each
// stage computes nothing.
#ifndef ANALYSIS_PIPELINE_STAGES_H
#define ANALYSIS_PIPELINE_STAGES_H

#include "analysis/ranks/run_passes.h"
#include "analysis/ranks/strategy_use.h"

// Ranks that send to each other are one pipeline; its stages are in rank order.
struct pipeline_stages {
    uint32_t *chain, *stage;           // per rank of the run; RUN_NONE outside all pipelines
    uint32_t chain_count, stage_count; // 0: no pipeline
    bool from_peers;       // it is known from recorded peers, else from places in a group
    int64_t micro_batches; // per step, 0: unknown
    int64_t chunks;        // of the model per rank, 1 unless interleaved
    bool *ring; // per team: its ranks pass data round, all alike: not a pipeline but a shared
                // context
};

// Arrays live in arena. Linear except for sorting the ranks.
MUST_CHECK bool pipeline_stages_find(const struct run_comm *comm, const struct strategy_use *use,
                                     struct arena *arena, struct pipeline_stages *stages,
                                     struct err *err);

// Adds the table pipeline, if there is a pipeline.
MUST_CHECK bool pipeline_stages_add(const struct run_comm *comm, const struct run_passes *passes,
                                    const struct pipeline_stages *stages, struct report *report,
                                    struct err *err);

#endif
