// SPDX-License-Identifier: Apache-2.0
// Numbers distinct pairs of integers 0, 1, 2, ... in order of first occurrence.
#ifndef ANALYSIS_GROUPS_H
#define ANALYSIS_GROUPS_H

#include "ingest/base/budget.h"
#include "ingest/base/hash.h"

#include <stddef.h>

struct group_key {
    uint64_t a, b;
};

struct groups {
    struct budget *budget;
    struct group_key *keys; // by number
    uint32_t count, cap;
    uint32_t *slots; // open addressing: number + 1, 0 if free
    uint32_t slot_cap;
};

// An empty set. Pair with groups_free.
void groups_init(struct groups *groups, struct budget *budget);
void groups_free(struct groups *groups);

// Adds a new key.
MUST_CHECK bool groups_add(struct groups *groups, struct group_key key, uint32_t *index,
                           struct err *err);

static inline uint32_t groups_slot(const struct groups *groups, struct group_key key)
{
    return (uint32_t)hash_mix(key.a ^ 0x9E3779B97F4A7C15u, key.b ^ 0xE7037ED1A0B428DBu) &
           (groups->slot_cap - 1);
}

// The number of a key. False: it is new.
MUST_CHECK static inline bool groups_find(const struct groups *groups, uint64_t a, uint64_t b,
                                          uint32_t *index)
{
    struct group_key key = {a, b};
    if (groups->slot_cap == 0)
        return false;
    uint32_t slot = groups_slot(groups, key), number;
    for (; (number = groups->slots[slot]) != 0; slot = (slot + 1) & (groups->slot_cap - 1)) {
        const struct group_key *known = &groups->keys[number - 1];
        if (known->a == a && known->b == b) {
            *index = number - 1;
            return true;
        }
    }
    return false;
}

// The number of a key, which is added if new. ERR_LIMIT beyond the budget.
MUST_CHECK static inline bool groups_index(struct groups *groups, uint64_t a, uint64_t b,
                                           uint32_t *index, struct err *err)
{
    return groups_find(groups, a, b, index) ||
           groups_add(groups, (struct group_key){a, b}, index, err);
}

#endif
