// SPDX-License-Identifier: Apache-2.0
// Unions of half-open time spans [begin, end).
#ifndef ANALYSIS_INTERVALS_H
#define ANALYSIS_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

struct span {
    int64_t begin, end;
};

// Joins spans that touch or overlap, in place; they must ascend by begin. Returns how many are
// left.
size_t intervals_union(struct span *spans, size_t count);

// Sum of the lengths of disjoint spans.
int64_t intervals_length(const struct span *spans, size_t count);

// What of a is not in b, both disjoint and ascending. out holds up to a_count + b_count spans;
// returns how many there are.
size_t intervals_minus(const struct span *a, size_t a_count, const struct span *b, size_t b_count,
                       struct span *out);

#endif
