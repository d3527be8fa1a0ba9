// SPDX-License-Identifier: Apache-2.0
// Set of records in one array with an open-addressing index.
#include "ingest/trace/record_set.h"
#include "ingest/base/fuzzed.h"

#include <string.h>

#define FIRST_CAP FUZZED_SIZE(64u, 4u)

void record_set_init(struct record_set *set, size_t record_size, struct budget *budget)
{
    *set = (struct record_set){.budget = budget, .size = record_size, .key = hash_key_random()};
}

void record_set_free(struct record_set *set)
{
    budget_free(set->budget, set->items, set->cap * set->size);
    budget_free(set->budget, set->slots, set->slot_cap * sizeof *set->slots);
    record_set_init(set, set->size, set->budget);
}

static uint32_t probe(const struct record_set *set, const void *record)
{
    uint32_t mask = set->slot_cap - 1;
    uint32_t at = (uint32_t)hash_keyed(set->key, record, set->size) & mask;
    while (set->slots[at] &&
           memcmp(set->items + (set->slots[at] - 1) * set->size, record, set->size))
        at = (at + 1) & mask;
    return at;
}

static bool grow(struct record_set *set, struct err *err)
{
    uint32_t cap = set->cap ? set->cap * 2 : FIRST_CAP;
    if (cap > UINT32_MAX / 4)
        return err_set(err, ERR_LIMIT, "more than %u distinct records", set->cap);
    char *items =
        budget_realloc(set->budget, set->items, set->cap * set->size, cap * set->size, err);
    if (!items)
        return false;
    set->items = items;
    set->cap = cap;
    uint32_t *slots = budget_alloc(set->budget, cap * 2 * sizeof *slots, err);
    if (!slots)
        return false;
    memset(slots, 0, cap * 2 * sizeof *slots);
    budget_free(set->budget, set->slots, set->slot_cap * sizeof *slots);
    set->slots = slots;
    set->slot_cap = cap * 2;
    for (uint32_t i = 0; i < set->count; i++)
        set->slots[probe(set, items + i * set->size)] = i + 1;
    return true;
}

bool record_set_add_near(struct record_set *set, const void *record, uint32_t hint, uint32_t *index,
                         struct err *err)
{
    const void *near = record_set_near(set, hint, index);
    if (near && memcmp(near, record, set->size) == 0)
        return true;
    if (set->count == set->cap && !grow(set, err))
        return false;
    uint32_t at = probe(set, record);
    if (!set->slots[at]) {
        memcpy(set->items + set->count * set->size, record, set->size);
        set->slots[at] = ++set->count;
    }
    *index = set->near[hint % RECORD_SET_NEAR] = set->slots[at] - 1;
    return true;
}

bool record_set_add(struct record_set *set, const void *record, uint32_t *index, struct err *err)
{
    return record_set_add_near(set, record, 0, index, err);
}

bool record_set_find(const struct record_set *set, const void *record, uint32_t *index)
{
    uint32_t slot = set->count ? set->slots[probe(set, record)] : 0;
    *index = slot - 1;
    return slot != 0;
}

bool record_set_take(struct record_set *set, void **items, struct err *err)
{
    *items = NULL;
    if (set->count) {
        *items = budget_realloc(set->budget, set->items, set->cap * set->size,
                                set->count * set->size, err);
        if (!*items)
            return false;
    } else {
        budget_free(set->budget, set->items, set->cap * set->size);
    }
    set->items = NULL;
    set->cap = 0;
    set->count = 0;
    record_set_free(set);
    return true;
}
