// SPDX-License-Identifier: Apache-2.0
// A set of fixed-size records, compared as bytes; each distinct record is stored once.
#ifndef INGEST_TRACE_RECORD_SET_H
#define INGEST_TRACE_RECORD_SET_H

#include "ingest/base/budget.h"
#include "ingest/base/hash.h"

#define RECORD_SET_NEAR 64u

struct record_set {
    struct budget *budget;
    size_t size;     // of a record; records must have no padding
    char *items;     // count records, in the order they were added
    uint32_t *slots; // open addressing: index + 1, 0 if free
    uint32_t count, cap, slot_cap;
    uint32_t near[RECORD_SET_NEAR]; // last index found for each hint, tried first
    struct hash_key key;
};

void record_set_init(struct record_set *set, size_t record_size, struct budget *budget);
void record_set_free(struct record_set *set);

// The index of the record, which is added if new. ERR_LIMIT when out of memory.
MUST_CHECK bool record_set_add(struct record_set *set, const void *record, uint32_t *index,
                               struct err *err);

// Same, with a hint: a value that often occurs together with the same record.
MUST_CHECK bool record_set_add_near(struct record_set *set, const void *record, uint32_t hint,
                                    uint32_t *index, struct err *err);

// The last record found for this hint, to compare before adding; NULL if there is none.
static inline const void *record_set_near(const struct record_set *set, uint32_t hint,
                                          uint32_t *index)
{
    *index = set->near[hint % RECORD_SET_NEAR];
    return *index < set->count ? set->items + *index * set->size : NULL;
}

// The index of the record, if it is there.
bool record_set_find(const struct record_set *set, const void *record, uint32_t *index);

// Hands the records over (exactly count * size bytes, NULL if empty) and empties the set.
MUST_CHECK bool record_set_take(struct record_set *set, void **items, struct err *err);

#endif
