// SPDX-License-Identifier: Apache-2.0
// Writes runs of ranks in short form.
#include "analysis/stats/rank_list.h"

void rank_list_add(struct buf *out, const int64_t *ranks, size_t count)
{
    for (size_t first = 0, last; first < count; first = last + 1) {
        for (last = first; last + 1 < count && ranks[last + 1] == ranks[last] + 1;)
            last++;
        if (first > 0)
            buf_puts(out, ",");
        buf_i64(out, ranks[first]);
        if (last > first) {
            buf_puts(out, "-");
            buf_i64(out, ranks[last]);
        }
    }
}
