// SPDX-License-Identifier: Apache-2.0
// Element types of tensors as traces name them, and the precision of arithmetic on them.
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
    DTYPE_FP4, // two values in a byte, which is the element
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

// Precision in which a matrix product is worked out; peaks of devices are listed by it.
enum precision {
    PRECISION_NONE, // unknown, or of no matter
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

// PyTorch's number of a type, as among concrete inputs: 6 is float, 15 is bfloat16.
enum dtype dtype_of_number(int64_t number);

// Bytes of an element, 0 when unknown.
int64_t dtype_bytes(enum dtype dtype);

bool dtype_is_floating(enum dtype dtype);

// Type of a result of two types, as PyTorch promotes; unknown with an unknown one.
enum dtype dtype_promote(enum dtype a, enum dtype b);

enum precision dtype_precision(enum dtype dtype);

// fp32 becomes tf32 when the kernel's name says so.
enum precision precision_refine(enum precision precision, struct str kernel);

// Of a matrix product of which only the kernel is known; PRECISION_NONE when its name does not say.
enum precision precision_of_kernel(struct str kernel);

// "bf16", ...; "unknown" for none.
const char *precision_word(enum precision precision);

#endif
