// SPDX-License-Identifier: Apache-2.0
// What an operator call has to compute and transfer, from its inputs alone. Formulas and their
// reasons: analysis/WORK.md.
#ifndef ANALYSIS_WORK_MODEL_H
#define ANALYSIS_WORK_MODEL_H

#include "analysis/facts/op_args.h"
#include "analysis/work/serving.h"

enum work_kind {
    WORK_OTHER, // nothing is known about it
    WORK_GEMM,
    WORK_ATTENTION_FORWARD,
    WORK_ATTENTION_BACKWARD,
    WORK_CONV_FORWARD,
    WORK_CONV_BACKWARD,
    WORK_ELEMENTWISE,
    WORK_REDUCTION,
    WORK_NORM,
    WORK_SOFTMAX,
    WORK_EMBEDDING,
    WORK_TRITON,
    WORK_KIND_COUNT
};

struct work {
    enum work_kind kind;
    enum precision precision; // of matrix products, attention and convolution
    int64_t flops;            // per call; COUNT_UNKNOWN also if only bytes matter
    int64_t bytes;            // per call, each tensor once; COUNT_UNKNOWN
    const char *note;         // why a figure is missing, or what was assumed; NULL
    char problem[112];        // "M=8 N=16 K=32"; "" if unknown
};

// Looks the operator up in the tables and evaluates its formulas.
void work_model(struct str op, const struct arg_list *args, struct work *work);

// Whether the operator is attention whose lengths only a pass's annotation gives; fills *work from
// those, and leaves it unchanged if they do not fit.
bool work_is_paged(struct str op);
void work_paged(struct str op, const struct arg_list *args, const struct serving_pass *pass,
                struct work *work);

// "gemm", "attention_forward", ...
const char *work_kind_word(enum work_kind kind);

// FLOPs of these kinds count for utilization.
bool work_kind_has_flops(enum work_kind kind);

#endif
