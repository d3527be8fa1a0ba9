// SPDX-License-Identifier: Apache-2.0
// Which batched products and softmaxes work on the same scores, by their recorded shapes.
#ifndef ANALYSIS_ATTENTION_SCORES_H
#define ANALYSIS_ATTENTION_SCORES_H

#include "analysis/facts/facts.h"

struct matrix {
    int64_t rows, columns;
};

// The tensors of one operator, as far as recorded.
struct scores_shape {
    bool known;
    int64_t batch;            // of a batched product
    struct matrix in[2], out; // same
    int64_t elements, width;  // of a softmax: all elements, and the size of the last dimension
};

// The tensors of an aten::bmm, or of an aten::baddbmm, whose factors follow a third tensor.
void scores_of_product(const struct facts *facts, uint32_t op, struct scores_shape *shape);
void scores_of_softmax(const struct facts *facts, uint32_t op, struct scores_shape *shape);

// Whether the product made scores of that batch and shape, possibly transposed.
bool scores_made(const struct scores_shape *product, int64_t batch, struct matrix scores);

// Same, or reads such scores.
bool scores_used(const struct scores_shape *product, int64_t batch, struct matrix scores);

// Whether a softmax may have processed them: all of them, or rows with something appended (sinks).
bool scores_softened(const struct scores_shape *softmax, int64_t batch, struct matrix scores);

#endif
