// SPDX-License-Identifier: Apache-2.0
// What a pickle's values are kept in. Dumps consist of millions of small containers that are
// alike, so equal texts are stored once, and so are equal rows of values: the call stacks of a
// loop, the keys of its dicts. A container is 8 bytes that point to its rows.
#ifndef INGEST_PICKLE_PICKLE_STORE_H
#define INGEST_PICKLE_PICKLE_STORE_H

#include "ingest/base/hash.h"
#include "ingest/pickle/pickle.h"

struct pickle_text_place {
    uint64_t at;
    uint32_t len;
};

// A container, or the continuation of one: each addition to one that is not empty is a separate
// node. The first node links to the last, which links to the second, so that adding takes no walk.
struct pickle_node {
    uint32_t row, link; // 0: none
};

// Open addressing; 0: free.
struct pickle_slots {
    uint32_t *at;
    size_t cap, used;
};

struct pickle {
    struct budget *budget;
    struct hash_key hash;
    pickle_value root;
    uint64_t size; // of the stream in bytes
    uint32_t kept; // texts below this are the members to keep; 0: all are kept
    char *chars;
    size_t char_count, char_cap;
    struct pickle_text_place *texts;
    size_t text_count, text_cap;
    struct pickle_slots text_slots; // of index + 1
    uint64_t *wide;                 // integers, also of huge ones, and the bits of floats
    size_t wide_count, wide_cap;
    // Rows: a number of values, then the values. Those of a dict: the row of its keys, then the
    // values of the members. Row 0 is empty.
    uint32_t *rows;
    size_t row_count, row_cap; // in values
    struct pickle_slots row_slots;
    struct pickle_node *nodes; // the first one is never used
    size_t node_count, node_cap;
};

MUST_CHECK bool pickle_store_init(struct pickle *pickle, struct budget *budget, struct err *err);

MUST_CHECK bool pickle_store_int(struct pickle *pickle, int64_t number, pickle_value *value,
                                 struct err *err);
// A larger integer by its lowest bits.
MUST_CHECK bool pickle_store_huge(struct pickle *pickle, uint64_t bits, pickle_value *value,
                                  struct err *err);
MUST_CHECK bool pickle_store_float(struct pickle *pickle, double number, pickle_value *value,
                                   struct err *err);
// A PICKLE_TEXT; bytes are kept as one, too. At most PICKLE_MAX_TEXT bytes.
MUST_CHECK bool pickle_store_text(struct pickle *pickle, struct str text, pickle_value *value,
                                  struct err *err);
// An empty container.
MUST_CHECK bool pickle_store_container(struct pickle *pickle, enum pickle_kind kind,
                                       pickle_value *value, struct err *err);
// Adds items to a list, tuple or set.
MUST_CHECK bool pickle_store_items(struct pickle *pickle, pickle_value container,
                                   const pickle_value *items, size_t count, struct err *err);
// Adds members to a dict: keys and values in turn. Members not to keep are left out.
MUST_CHECK bool pickle_store_members(struct pickle *pickle, pickle_value dict,
                                     const pickle_value *items, size_t pairs, struct err *err);

// What the store held before a record, all but its nodes.
struct pickle_store_mark {
    size_t rows, wide;
};
struct pickle_store_mark pickle_store_mark(const struct pickle *pickle);
// Frees the node of a dict and all after it. Only if no row was added since, and nothing refers to
// those nodes.
void pickle_store_forget(struct pickle *pickle, pickle_value dict,
                         const struct pickle_store_mark *mark);
// The same value without a node from `first` on; None if it needs one.
pickle_value pickle_store_lasting(const struct pickle *pickle, pickle_value value, uint32_t first);

static inline pickle_value pickle_value_of(enum pickle_kind kind, uint32_t index)
{
    return index << 4 | kind;
}

#endif
