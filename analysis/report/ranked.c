// SPDX-License-Identifier: Apache-2.0
// Sorting rows by time and name.
#include "analysis/report/ranked.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    int order = str_compare(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

void ranked_sort(struct ranked *ranked, size_t count)
{
    if (count)
        qsort(ranked, count, sizeof *ranked, compare);
}
