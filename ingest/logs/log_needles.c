// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_needles.h"

#include <assert.h>

enum { ANCHOR_BYTES = 4 };

static unsigned filter_of(const char *at)
{
    uint32_t anchor;
    memcpy(&anchor, at, sizeof anchor);
    return (anchor * UINT32_C(2654435761)) >> (32 - LOG_FILTER_BITS);
}

void log_needles_add(struct log_needles *needles, struct str word)
{
    assert(word.len >= ANCHOR_BYTES && needles->count < LOG_MOST_NEEDLES);
    needles->words[needles->count++] = word;
    needles->filter[filter_of(word.at)] = 1;
}

static bool find_at(const struct log_needles *needles, struct str rest, unsigned *number)
{
    for (unsigned i = 0; i < needles->count; i++)
        if (str_starts_with(rest, needles->words[i])) {
            *number = i;
            return true;
        }
    return false;
}

bool log_needles_find(const struct log_needles *needles, struct str text, size_t from, size_t *at,
                      unsigned *number)
{
    for (size_t i = from; i + ANCHOR_BYTES <= text.len; i++) {
        if (!needles->filter[filter_of(text.at + i)])
            continue;
        if (find_at(needles, (struct str){text.at + i, text.len - i}, number)) {
            *at = i;
            return true;
        }
    }
    return false;
}
