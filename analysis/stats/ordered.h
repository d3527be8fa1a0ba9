// SPDX-License-Identifier: Apache-2.0
// Doubles as integers of the same order, so that the statistics of integers serve for both.
#ifndef ANALYSIS_ORDERED_H
#define ANALYSIS_ORDERED_H

#include <stdint.h>
#include <string.h>

static inline int64_t ordered_of(double number)
{
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >= 0 ? bits : bits ^ INT64_MAX;
}

static inline double ordered_double(int64_t bits)
{
    double number;
    bits = bits >= 0 ? bits : bits ^ INT64_MAX;
    memcpy(&number, &bits, sizeof number);
    return number;
}

#endif
