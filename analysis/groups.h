// SPDX-License-Identifier: Apache-2.0
// Gives distinct keys of two integers the numbers 0, 1, 2, ... in the order they first come.
#ifndef ANALYSIS_GROUPS_H
#define ANALYSIS_GROUPS_H

#include "ingest/base/budget.h"

#include <stddef.h>

struct group_key {
    uint64_t a, b;
};

struct groups {
    struct budget *budget;
    struct group_key *keys; // of each number
    uint32_t count, cap;
    uint32_t *slots; // open addressing: number + 1, 0 when free
    uint32_t slot_cap;
};

// An empty set. Pair with groups_free.
void groups_init(struct groups *groups, struct budget *budget);
void groups_free(struct groups *groups);

// The number of a key, which is added when new. ERR_LIMIT past the budget.
MUST_CHECK bool groups_index(struct groups *groups, uint64_t a, uint64_t b, uint32_t *index,
                             struct err *err);

#endif
