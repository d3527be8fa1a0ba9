// SPDX-License-Identifier: Apache-2.0
// Part of a name in lower case, indexed so that hundreds of short texts can be looked up in it
// quickly.
#ifndef INGEST_BASE_NAME_INDEX_H
#define INGEST_BASE_NAME_INDEX_H

#include "ingest/base/str.h"

#define NAME_INDEX_MAX 2048 // bytes of a name that are indexed

// Positions with the same pair of characters are chained.
struct name_index {
    size_t len;
    char text[NAME_INDEX_MAX];
    uint16_t first[1024]; // by pair: position + 1, 0 if it does not occur
    uint16_t next[NAME_INDEX_MAX];
};

// Takes the first NAME_INDEX_MAX bytes of name, ASCII letters in lower case.
void name_index_make(struct name_index *index, struct str name);

// The first position of text at or after `from`, or SIZE_MAX. text is lower case and at least 2
// characters long. Takes time proportional to how often its first two characters occur.
size_t name_index_find(const struct name_index *index, struct str text, size_t from);

#endif
