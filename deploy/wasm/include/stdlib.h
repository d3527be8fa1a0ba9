// SPDX-License-Identifier: Apache-2.0
#ifndef WASM_STDLIB_H
#define WASM_STDLIB_H

#include_next <stdlib.h>

void qsort_r(void *base, size_t count, size_t size,
             int (*compare)(const void *left, const void *right, void *context), void *context);

#endif
