// SPDX-License-Identifier: Apache-2.0
// The families of formulas behind work_model: each returns whether it has one for the operator, and
// if so fills *work, which is initially unknown.
#ifndef ANALYSIS_WORK_MODELS_H
#define ANALYSIS_WORK_MODELS_H

#include "analysis/work/work_model.h"

typedef bool work_family(struct str op, const struct arg_list *args, struct work *work);

work_family work_gemm;
work_family work_attention;
work_family work_conv;
work_family work_reduction;
work_family work_norm;
work_family work_embedding;
work_family work_pointwise; // elementwise, softmax, copies, fills
work_family work_triton;
work_family work_serving; // of inference engines: norms, activations, rotary embedding, caches

// Notes used by several families.
extern const char work_note_shapes[];   // shapes do not fit together
extern const char work_note_concrete[]; // a number among the inputs was not recorded

// Bytes of elements of a type; COUNT_UNKNOWN for an unknown type.
int64_t work_bytes(int64_t elements, enum dtype dtype);

// Bytes of the tensor at an index, 0 if there is none.
int64_t work_tensor_bytes(const struct arg_list *args, int index);

// Same for a tensor as stored: dimensions with stride 0 count as one element.
int64_t work_distinct_bytes(const struct op_arg *arg);

// Product of dimensions from .. to - 1; COUNT_UNKNOWN beyond 63 bits. All must be within those
// kept.
int64_t work_product(const struct op_arg *arg, uint32_t from, uint32_t to);

#endif
