// SPDX-License-Identifier: Apache-2.0
// An operator's inputs, read strictly from the texts of the trace. Nothing is ever evaluated: text
// in an unexpected form counts as unknown.
#ifndef ANALYSIS_OP_ARGS_H
#define ANALYSIS_OP_ARGS_H

#include "analysis/stats/count.h"
#include "analysis/names/dtype.h"

#define OP_ARGS_MAX      64 // most arguments kept per call
#define OP_ARGS_MAX_RANK 8  // most dimensions kept per tensor

enum op_arg_kind {
    OP_ARG_OTHER, // a number, a flag, none
    OP_ARG_TENSOR,
    OP_ARG_TENSORS, // a list of them
};

struct op_arg {
    enum op_arg_kind kind;
    enum dtype dtype;                  // of a list: the common one, else unknown
    uint32_t rank;                     // may exceed what is kept
    int64_t dims[OP_ARGS_MAX_RANK];    // not negative
    int64_t strides[OP_ARGS_MAX_RANK]; // if has_strides
    bool has_strides;
    int64_t elements; // of a list: of all of them; COUNT_UNKNOWN beyond 63 bits
    int64_t tensors;  // 1, or the number in the list
    struct str text;  // the concrete input, {NULL, 0} if not recorded
};

// Raw JSON texts, empty if not recorded.
struct op_arg_texts {
    struct str dims, types, strides, concrete;
};

struct arg_list {
    const char *problem; // why nothing is known, NULL if something is
    uint32_t count;      // 0 with a problem
    struct op_arg args[OP_ARGS_MAX];
};

// Reads the texts, which must outlive *args. Shapes and types must be complete, else there is a
// problem; strides and concrete inputs count up to the first error.
void op_args_parse(const struct op_arg_texts *texts, struct arg_list *args);

// The tensor at an index, NULL if there is none.
const struct op_arg *op_args_tensor(const struct arg_list *args, int index);

// Bytes of a tensor or list; COUNT_UNKNOWN for an unknown type.
int64_t op_arg_bytes(const struct op_arg *arg);

// Concrete inputs: "True" or "False", an integer, "[1, 1]". False for anything else.
bool op_args_bool(const struct arg_list *args, int index, bool *value);
bool op_args_int(const struct arg_list *args, int index, int64_t *value);
bool op_args_ints(const struct arg_list *args, int index, int64_t *values, uint32_t max,
                  uint32_t *count);
// "[True, False, True]"
bool op_args_bools(const struct arg_list *args, int index, bool *values, uint32_t max,
                   uint32_t *count);
// The concrete input is a number equal to zero: "0", "0.", "-0.0".
bool op_args_is_zero(const struct arg_list *args, int index);
// The concrete input was recorded as none.
bool op_args_is_none(const struct arg_list *args, int index);

#endif
