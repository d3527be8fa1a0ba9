// SPDX-License-Identifier: Apache-2.0
// Chains the positions of each pair of characters in ascending order.
#include "ingest/base/name_index.h"

// Letters differ in their low five bits; other pairs may share a chain and are ruled out by
// comparing.
static unsigned pair_at(const char *text)
{
    return ((unsigned)text[0] & 31) << 5 | ((unsigned)text[1] & 31);
}

void name_index_make(struct name_index *index, struct str name)
{
    index->len = name.len < NAME_INDEX_MAX ? name.len : NAME_INDEX_MAX;
    for (size_t i = 0; i < index->len; i++) {
        char c = name.at[i];
        index->text[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    memset(index->first, 0, sizeof index->first);
    for (size_t i = index->len; i-- > 1;) {
        uint16_t *first = &index->first[pair_at(&index->text[i - 1])];
        index->next[i - 1] = *first;
        *first = (uint16_t)i;
    }
}

size_t name_index_find(const struct name_index *index, struct str text, size_t from)
{
    for (uint16_t at = index->first[pair_at(text.at)]; at; at = index->next[at - 1]) {
        size_t begin = at - 1u;
        if (begin + text.len > index->len)
            return SIZE_MAX;
        if (begin >= from && memcmp(&index->text[begin], text.at, text.len) == 0)
            return begin;
    }
    return SIZE_MAX;
}
