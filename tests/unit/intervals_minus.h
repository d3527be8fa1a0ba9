// SPDX-License-Identifier: Apache-2.0
// The difference of spans: breakdown parts are checked against it.
#ifndef TESTS_UNIT_INTERVALS_MINUS_H
#define TESTS_UNIT_INTERVALS_MINUS_H

#include "analysis/stats/intervals.h"

// The parts of a not in b, both disjoint and ascending. out has room for a_count + b_count spans;
// returns how many there are.
static inline size_t intervals_minus(const struct span *a, size_t a_count, const struct span *b,
                                     size_t b_count, struct span *out)
{
    size_t found = 0, skip = 0;
    for (size_t i = 0; i < a_count; i++) {
        int64_t at = a[i].begin;
        while (skip < b_count && b[skip].end <= at)
            skip++;
        for (size_t j = skip; j < b_count && b[j].begin < a[i].end; j++) {
            if (b[j].begin > at)
                out[found++] = (struct span){at, b[j].begin};
            if (b[j].end > at)
                at = b[j].end;
        }
        if (at < a[i].end)
            out[found++] = (struct span){at, a[i].end};
    }
    return found;
}

#endif
