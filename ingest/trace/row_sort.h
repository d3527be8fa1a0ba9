// SPDX-License-Identifier: Apache-2.0
// Stable sort of a row's events; linear if nearly sorted, as recorded rows are.
#ifndef INGEST_TRACE_ROW_SORT_H
#define INGEST_TRACE_ROW_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_key {
    int64_t begin_ns;
    int64_t second; // breaks ties of begin_ns
    uint32_t event;
};

static inline bool row_key_before(const struct row_key *a, const struct row_key *b)
{
    return a->begin_ns < b->begin_ns || (a->begin_ns == b->begin_ns && a->second < b->second);
}

// Sorts count keys by (begin_ns, second), keeping the order of equal ones. scratch has room for
// count keys.
void row_sort(struct row_key *keys, struct row_key *scratch, size_t count);

#endif
