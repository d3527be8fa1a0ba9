// SPDX-License-Identifier: Apache-2.0
// A piece of a name in lower case, indexed so that hundreds of short texts are looked up in it
// fast.
#ifndef INGEST_BASE_NAME_INDEX_H
#define INGEST_BASE_NAME_INDEX_H

#include "ingest/base/str.h"

#define NAME_INDEX_MAX 2048 // bytes of a name that are indexed

// Positions are chained by the pair of characters that stands there.
struct name_index {
    size_t len;
    char text[NAME_INDEX_MAX];
    uint16_t first[1024]; // by pair: position + 1, 0 when it occurs nowhere
    uint16_t next[NAME_INDEX_MAX];
};

// Takes the first NAME_INDEX_MAX bytes of name, ASCII letters in lower case.
void name_index_make(struct name_index *index, struct str name);

// The first position at `from` or after it where text begins, or SIZE_MAX. text is in lower case
// and has 2 characters or more. Costs as much as its first two characters occur.
size_t name_index_find(const struct name_index *index, struct str text, size_t from);

#endif
