// SPDX-License-Identifier: Apache-2.0
// A stable sort by integer keys, linear in the number of items.
#ifndef ANALYSIS_SORT_H
#define ANALYSIS_SORT_H

#include "ingest/base/budget.h"

#include <stddef.h>

struct keyed {
    int64_t key;
    uint32_t a, b; // carried along
};

// Sorts ascending by key; items with equal keys keep their order. scratch holds count items.
void sort_keyed(struct keyed *items, struct keyed *scratch, size_t count);

// Sorts ascending; scratch holds count values.
void sort_i64(int64_t *values, int64_t *scratch, size_t count);

#endif
