// SPDX-License-Identifier: Apache-2.0
// Binary search in ascending numbers: a column, or a member of structs sorted by it.
#ifndef INGEST_BASE_SEARCH_H
#define INGEST_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The member of the first item, as the functions below take it; NULL if there are no items.
#define FIRST_OF(items, member) ((items) ? &(items)->member : NULL)

// How many keys, 64 or 32 bits wide, are below the value.
static inline uint32_t search_ascending(const void *first, uint32_t count, size_t size, bool wide,
                                        int64_t value)
{
    const char *at = first;
    uint32_t below = 0;
    while (count > 0) {
        uint32_t half = count / 2;
        const void *middle = at + (size_t)(below + half) * size;
        bool passed = (wide ? *(const int64_t *)middle : *(const uint32_t *)middle) < value;
        below += passed ? half + 1 : 0;
        count = passed ? count - half - 1 : half;
    }
    return below;
}

// How many of `count` ascending numbers, `size` bytes apart, are below the value.
static inline uint32_t count_below_i64(const int64_t *first, uint32_t count, size_t size,
                                       int64_t value)
{
    return search_ascending(first, count, size, true, value);
}

static inline uint32_t count_below_u32(const uint32_t *first, uint32_t count, size_t size,
                                       uint32_t value)
{
    return search_ascending(first, count, size, false, value);
}

// How many are at most the value.
static inline uint32_t count_upto_i64(const int64_t *first, uint32_t count, size_t size,
                                      int64_t value)
{
    return value == INT64_MAX ? count : search_ascending(first, count, size, true, value + 1);
}

static inline uint32_t count_upto_u32(const uint32_t *first, uint32_t count, size_t size,
                                      uint32_t value)
{
    return search_ascending(first, count, size, false, (int64_t)value + 1);
}

#endif
