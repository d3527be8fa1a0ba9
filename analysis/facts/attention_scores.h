// SPDX-License-Identifier: Apache-2.0
// Which batched products and softmaxes work on the same scores, by their recorded shapes.
#ifndef ANALYSIS_ATTENTION_SCORES_H
#define ANALYSIS_ATTENTION_SCORES_H

#include "analysis/facts/facts.h"

struct matrix {
    int64_t rows, columns;
};

// What one operator worked on, as far as it was recorded.
struct scores_shape {
    bool known;
    int64_t batch;            // of a batched product
    struct matrix in[2], out; // the same
    int64_t elements, width;  // of a softmax: all, and those of its last dimension
};

// Of an aten::bmm, or an aten::baddbmm, whose factors follow a third tensor.
void scores_of_product(const struct facts *facts, uint32_t op, struct scores_shape *shape);
void scores_of_softmax(const struct facts *facts, uint32_t op, struct scores_shape *shape);

// Whether the product has made scores of that batch and shape, transposed ones too.
bool scores_made(const struct scores_shape *product, int64_t batch, struct matrix scores);

// The same, or reads such scores.
bool scores_used(const struct scores_shape *product, int64_t batch, struct matrix scores);

// Whether a softmax may have worked on them: on all, or on rows with something appended (sinks).
bool scores_softened(const struct scores_shape *softmax, int64_t batch, struct matrix scores);

#endif
