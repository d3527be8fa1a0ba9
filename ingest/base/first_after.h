// SPDX-License-Identifier: Apache-2.0
// Binary search in sorted items.
#ifndef INGEST_BASE_FIRST_AFTER_H
#define INGEST_BASE_FIRST_AFTER_H

#include <stdbool.h>
#include <stddef.h>

// Whether an item lies before the place that is looked for; true for the first ones, then false.
typedef bool lies_before(const void *items, size_t index, const void *place);

// The first item that does not lie before it; count if all do.
static inline size_t first_after(const void *items, size_t count, lies_before *before,
                                 const void *place)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (before(items, middle, place))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

#endif
