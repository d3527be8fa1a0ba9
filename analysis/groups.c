// SPDX-License-Identifier: Apache-2.0
// A hash table from keys to consecutive numbers.
#include "analysis/groups.h"

#include "ingest/base/hash.h"

#define FIRST_CAP 64

void groups_init(struct groups *groups, struct budget *budget)
{
    *groups = (struct groups){.budget = budget};
}

void groups_free(struct groups *groups)
{
    budget_free(groups->budget, groups->keys, groups->cap * sizeof *groups->keys);
    budget_free(groups->budget, groups->slots, groups->slot_cap * sizeof *groups->slots);
    groups_init(groups, groups->budget);
}

static uint32_t slot_of(const struct groups *groups, uint64_t a, uint64_t b)
{
    return (uint32_t)hash_u64(hash_u64(a) ^ b) & (groups->slot_cap - 1);
}

static bool grow_keys(struct groups *groups, struct err *err)
{
    uint32_t cap = groups->cap ? groups->cap * 2 : FIRST_CAP;
    if (cap > UINT32_MAX / 4)
        return err_set(err, ERR_LIMIT, "found more than %u distinct groups", groups->cap);
    struct group_key *keys = budget_realloc(groups->budget, groups->keys,
                                            groups->cap * sizeof *keys, cap * sizeof *keys, err);
    if (!keys)
        return false;
    groups->keys = keys;
    groups->cap = cap;
    return true;
}

static bool grow_slots(struct groups *groups, struct err *err)
{
    uint32_t cap = groups->cap * 2;
    uint32_t *slots = budget_alloc(groups->budget, cap * sizeof *slots, err);
    if (!slots)
        return false;
    memset(slots, 0, cap * sizeof *slots);
    budget_free(groups->budget, groups->slots, groups->slot_cap * sizeof *slots);
    groups->slots = slots;
    groups->slot_cap = cap;
    for (uint32_t i = 0; i < groups->count; i++) {
        uint32_t slot = slot_of(groups, groups->keys[i].a, groups->keys[i].b);
        while (slots[slot])
            slot = (slot + 1) & (cap - 1);
        slots[slot] = i + 1;
    }
    return true;
}

bool groups_index(struct groups *groups, uint64_t a, uint64_t b, uint32_t *index, struct err *err)
{
    if (groups->count == groups->cap && (!grow_keys(groups, err) || !grow_slots(groups, err)))
        return false;
    uint32_t slot = slot_of(groups, a, b);
    for (; groups->slots[slot]; slot = (slot + 1) & (groups->slot_cap - 1)) {
        const struct group_key *key = &groups->keys[groups->slots[slot] - 1];
        if (key->a == a && key->b == b) {
            *index = groups->slots[slot] - 1;
            return true;
        }
    }
    groups->keys[groups->count] = (struct group_key){a, b};
    groups->slots[slot] = ++groups->count;
    *index = groups->count - 1;
    return true;
}
