// SPDX-License-Identifier: Apache-2.0
// A hash table from keys to consecutive numbers.
#include "analysis/stats/groups.h"

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

static uint32_t free_slot(const struct groups *groups, struct group_key key)
{
    uint32_t slot = groups_slot(groups, key);
    while (groups->slots[slot])
        slot = (slot + 1) & (groups->slot_cap - 1);
    return slot;
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
    for (uint32_t i = 0; i < groups->count; i++)
        slots[free_slot(groups, groups->keys[i])] = i + 1;
    return true;
}

bool groups_add(struct groups *groups, struct group_key key, uint32_t *index, struct err *err)
{
    if (groups->count == groups->cap && (!grow_keys(groups, err) || !grow_slots(groups, err)))
        return false;
    uint32_t slot = free_slot(groups, key);
    groups->keys[groups->count] = key;
    groups->slots[slot] = ++groups->count;
    *index = groups->count - 1;
    return true;
}
