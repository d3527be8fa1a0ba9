// SPDX-License-Identifier: Apache-2.0
// Element types of tensors as named in traces, and the precision of arithmetic on them.
#ifndef ANALYSIS_DTYPE_H
#define ANALYSIS_DTYPE_H

#include "ingest/base/str.h"

enum dtype {
    DTYPE_UNKNOWN,
    DTYPE_BOOL,
    DTYPE_UINT8,
    DTYPE_INT8,
    DTYPE_INT16,
    DTYPE_INT32,
    DTYPE_INT64,
    DTYPE_FP4, // two values per byte, which is the element
    DTYPE_FP8,
    DTYPE_BF16,
    DTYPE_FP16,
    DTYPE_FP32,
    DTYPE_FP64,
    DTYPE_COMPLEX32,
    DTYPE_COMPLEX64,
    DTYPE_COMPLEX128,
    DTYPE_COUNT
};

// Precision in which a matrix product is computed; peaks of devices are listed by it.
enum precision {
    PRECISION_NONE, // unknown, or irrelevant
    PRECISION_FP4,
    PRECISION_FP8,
    PRECISION_INT8,
    PRECISION_BF16,
    PRECISION_FP16,
    PRECISION_TF32,
    PRECISION_FP32,
    PRECISION_FP64,
    PRECISION_COUNT
};

// "float", "c10::BFloat16", "long int", ...
enum dtype dtype_of_name(struct str name);

// PyTorch's number for a type, as in concrete inputs: 6 is float, 15 is bfloat16.
enum dtype dtype_of_number(int64_t number);

// Bytes of an element, 0 if unknown.
int64_t dtype_bytes(enum dtype dtype);

bool dtype_is_floating(enum dtype dtype);

// The type of a result from two types, as PyTorch promotes; unknown if one is unknown.
enum dtype dtype_promote(enum dtype a, enum dtype b);

enum precision dtype_precision(enum dtype dtype);

// fp32 becomes tf32 if the kernel's name says so.
enum precision precision_refine(enum precision precision, struct str kernel);

// The precision of a matrix product of which only the kernel is known; PRECISION_NONE if its name
// does not show it.
enum precision precision_of_kernel(struct str kernel);

// "bf16", ...; "unknown" for none.
const char *precision_word(enum precision precision);

#endif
