// SPDX-License-Identifier: Apache-2.0
// How much attention a call computes: sequences, new positions and the keys they attend to.
#ifndef ANALYSIS_ATTENTION_SIZE_H
#define ANALYSIS_ATTENTION_SIZE_H

#include "analysis/facts/op_args.h"

struct attention_size {
    int64_t sequences;    // if heads are 0: times heads
    int64_t heads, width; // of the queries; 0 if not recorded
    int64_t tokens, keys; // queries and keys, summed over the sequences
};

// Whether the operator is any kind of attention, forward, with or without a formula in WORK.md.
bool attention_size_known(struct str op);

// Its size; false if the shapes do not show it.
bool attention_size_read(struct str op, const struct arg_list *args, struct attention_size *size);

// For the softmax of unfused attention: (sequences, heads, queries, keys), or the first two as one.
bool attention_size_of_scores(const struct arg_list *args, struct attention_size *size);

#endif
