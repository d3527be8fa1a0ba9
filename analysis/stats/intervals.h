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

#endif
