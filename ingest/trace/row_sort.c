// SPDX-License-Identifier: Apache-2.0
// Bottom-up merge sort that leaves runs alone if they are already in order.
#include "ingest/trace/row_sort.h"

#include <string.h>

#define RUN 16

static void insertion_sort(struct row_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct row_key key = keys[i];
        size_t at = i;
        for (; at > 0 && row_key_before(&key, &keys[at - 1]); at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

// Merges keys[0..middle) and keys[middle..count); only the left run is copied.
static void merge(struct row_key *keys, size_t middle, size_t count, struct row_key *scratch)
{
    if (!row_key_before(&keys[middle], &keys[middle - 1]))
        return;
    memcpy(scratch, keys, middle * sizeof *keys);
    size_t left = 0, right = middle, out = 0;
    while (left < middle && right < count)
        keys[out++] =
            row_key_before(&keys[right], &scratch[left]) ? keys[right++] : scratch[left++];
    memcpy(keys + out, scratch + left, (middle - left) * sizeof *keys);
}

void row_sort(struct row_key *keys, struct row_key *scratch, size_t count)
{
    for (size_t at = 0; at < count; at += RUN)
        insertion_sort(keys + at, count - at < RUN ? count - at : RUN);
    for (size_t run = RUN; run < count; run *= 2)
        for (size_t at = 0; at + run < count; at += 2 * run)
            merge(keys + at, run, count - at < 2 * run ? count - at : 2 * run, scratch);
}
