// SPDX-License-Identifier: Apache-2.0
// Linear passes over sorted spans.
#include "analysis/intervals.h"

size_t intervals_union(struct span *spans, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
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
    for (size_t i = 0; i < count; i++)
        sum += spans[i].end - spans[i].begin;
    return sum;
}

size_t intervals_minus(const struct span *a, size_t a_count, const struct span *b, size_t b_count,
                       struct span *out)
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
