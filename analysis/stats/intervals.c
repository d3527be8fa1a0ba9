// SPDX-License-Identifier: Apache-2.0
// Linear passes over sorted spans.
#include "analysis/stats/intervals.h"

#include <assert.h>

size_t intervals_union(struct span *spans, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        assert(kept == 0 || spans[kept - 1].begin <= spans[i].begin);
        if (kept && spans[i].begin <= spans[kept - 1].end) {
            if (spans[i].end > spans[kept - 1].end)
                spans[kept - 1].end = spans[i].end;
        } else {
            spans[kept++] = spans[i];
        }
    }
    return kept;
}

int64_t intervals_length(const struct span *spans, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        assert(i == 0 || spans[i - 1].end <= spans[i].begin);
        sum += spans[i].end - spans[i].begin;
    }
    return sum;
}
