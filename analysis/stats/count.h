// SPDX-License-Identifier: Apache-2.0
// Counts of elements, bytes and operations that may be unknown: arithmetic that never overflows.
#ifndef ANALYSIS_COUNT_H
#define ANALYSIS_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#define COUNT_UNKNOWN ((int64_t)-1) // unknown, or too large for 63 bits

static inline bool count_known(int64_t count)
{
    return count >= 0;
}

static inline int64_t count_mul(int64_t a, int64_t b)
{
    int64_t product;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product))
        return COUNT_UNKNOWN;
    return product;
}

static inline int64_t count_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum))
        return COUNT_UNKNOWN;
    return sum;
}

#endif
