// SPDX-License-Identifier: Apache-2.0
// The first sieve of the search for secrets: finds certain rare groups of three letters, one of
// which occurs in every secret. Works on 32 bytes at a time if the processor can.
#ifndef INGEST_BASE_SECRET_ANCHORS_H
#define INGEST_BASE_SECRET_ANCHORS_H

#include "ingest/base/str.h"

#define SECRET_ANCHOR_BYTES 3
#define SECRET_ANCHOR_PAIRS 1024 // by the lower five bits of two bytes

// Per place in a group and byte: the sets with a group that has this byte there. Three bytes with
// a set in common may be an anchor; few others have one.
extern const uint8_t secret_anchor_sets[SECRET_ANCHOR_BYTES][128];

// Per first two bytes of a group, by their lower five bits: a bit for each third byte that
// completes a group. Needed because the sets also admit mixtures of their groups, which outnumber
// the groups themselves.
extern const uint32_t secret_anchor_thirds[SECRET_ANCHOR_PAIRS];

static inline bool secret_anchor_at(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    return ((byte[0] | byte[1] | byte[2]) & 0x80) == 0 &&
           (secret_anchor_sets[0][byte[0]] & secret_anchor_sets[1][byte[1]] &
            secret_anchor_sets[2][byte[2]]) != 0 &&
           (secret_anchor_thirds[(byte[0] & 31) << 5 | (byte[1] & 31)] >> (byte[2] & 31) & 1);
}

// The first possible anchor at or after `from`; text.len if there is none.
size_t secret_anchor_next(struct str text, size_t from);

// Its variants; the wide one stops when less than one step is left, and returns whether it found
// one.
size_t secret_anchor_next_scalar(struct str text, size_t from);
bool secret_anchor_wide_avx2(struct str text, size_t *at);
bool secret_anchor_has_avx2(void);

#endif
