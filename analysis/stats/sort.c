// SPDX-License-Identifier: Apache-2.0
// Radix sort byte by byte from the lowest, skipping bytes in which all keys agree; short inputs by
// insertion. What is in order stays as it is.
#include "analysis/stats/sort.h"

#include <string.h>

#define SHORT 48 // below this insertion is faster than counting 256 buckets

// Order-preserving map from signed to unsigned.
static uint64_t bits_of(int64_t key)
{
    return (uint64_t)key ^ (uint64_t)1 << 63;
}

// Turns counts per bucket into first positions.
static void make_positions(size_t buckets[256])
{
    size_t sum = 0;
    for (int i = 0; i < 256; i++) {
        size_t here = buckets[i];
        buckets[i] = sum;
        sum += here;
    }
}

static void insert_keyed(struct keyed *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct keyed item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

void sort_keyed(struct keyed *items, struct keyed *scratch, size_t count)
{
    if (count < SHORT) {
        insert_keyed(items, count);
        return;
    }
    uint64_t differing = 0;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        differing |= (uint64_t)(items[i].key ^ items[i - 1].key);
        sorted &= items[i].key >= items[i - 1].key;
    }
    struct keyed *from = items, *to = scratch;
    for (int shift = 0; shift < 64 && !sorted; shift += 8) {
        size_t at[256] = {0};
        if (!(differing >> shift & 255))
            continue;
        for (size_t i = 0; i < count; i++)
            at[bits_of(from[i].key) >> shift & 255]++;
        make_positions(at);
        for (size_t i = 0; i < count; i++)
            to[at[bits_of(from[i].key) >> shift & 255]++] = from[i];
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}

static void insert_i64(int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

void sort_i64(int64_t *values, int64_t *scratch, size_t count)
{
    if (count < SHORT) {
        insert_i64(values, count);
        return;
    }
    uint64_t differing = 0;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        differing |= (uint64_t)(values[i] ^ values[i - 1]);
        sorted &= values[i] >= values[i - 1];
    }
    int64_t *from = values, *to = scratch;
    for (int shift = 0; shift < 64 && !sorted; shift += 8) {
        size_t at[256] = {0};
        if (!(differing >> shift & 255))
            continue;
        for (size_t i = 0; i < count; i++)
            at[bits_of(from[i]) >> shift & 255]++;
        make_positions(at);
        for (size_t i = 0; i < count; i++)
            to[at[bits_of(from[i]) >> shift & 255]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values)
        memcpy(values, from, count * sizeof *values);
}
