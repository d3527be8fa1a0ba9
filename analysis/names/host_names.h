// SPDX-License-Identifier: Apache-2.0
// What the names of operators and Python frames say about the model: modules, backward,
// checkpointing.
#ifndef ANALYSIS_HOST_NAMES_H
#define ANALYSIS_HOST_NAMES_H

#include "ingest/trace/trace.h"

enum host_name {
    NAME_PLAIN,
    NAME_MODULE,              // frame "nn.Module: Linear_3"
    NAME_RECOMPUTE,           // frame of torch/utils/checkpoint.py that repeats a forward
    NAME_RUN_BACKWARD,        // frame that runs the autograd engine
    NAME_EVALUATE,            // operator "autograd::engine::evaluate_function: ..."
    NAME_EVALUATE_CHECKPOINT, // same for a checkpointed function: what it runs is a forward
    NAME_NODE,                // operator "AddmmBackward0": what the engine evaluates
};

// Decided once per string, so that no event costs a text comparison.
struct host_names {
    uint8_t *kinds; // enum host_name per string of the trace
    size_t size;
    bool backward, checkpoint; // whether the trace has any
};

MUST_CHECK bool host_names_make(struct host_names *names, const struct trace *trace,
                                struct budget *budget, struct err *err);
void host_names_free(struct host_names *names, struct budget *budget);

#endif
