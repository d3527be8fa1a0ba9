// SPDX-License-Identifier: Apache-2.0
// How much attention a call works on: sequences, new positions and the keys that they look at.
#ifndef ANALYSIS_ATTENTION_SIZE_H
#define ANALYSIS_ATTENTION_SIZE_H

#include "analysis/facts/op_args.h"

struct attention_size {
    int64_t sequences;    // where heads are 0: times heads
    int64_t heads, width; // of the queries; 0 when not recorded
    int64_t tokens, keys; // queries and keys, summed over the sequences
};

// Whether the operator is attention of any kind, forward, with or without a formula in WORK.md.
bool attention_size_known(struct str op);

// Its size; false when the shapes do not tell.
bool attention_size_read(struct str op, const struct arg_list *args, struct attention_size *size);

// Of the softmax of attention that is not fused: (sequences, heads, queries, keys), or the first
// two as one.
bool attention_size_of_scores(const struct arg_list *args, struct attention_size *size);

#endif
