// SPDX-License-Identifier: Apache-2.0
// The first sieve of the search for secrets: where one of some rare groups of three letters stands,
// of which every secret has one. 32 bytes at a time where the processor can.
#ifndef INGEST_BASE_SECRET_ANCHORS_H
#define INGEST_BASE_SECRET_ANCHORS_H

#include "ingest/base/str.h"

#define SECRET_ANCHOR_BYTES 3
#define SECRET_ANCHOR_PAIRS 1024 // by the lower five bits of two bytes

// Per place in a group and byte: the sets of groups that have it there. Bytes that
// have a set in common at all three places may be an anchor; few others do.
extern const uint8_t secret_anchor_sets[SECRET_ANCHOR_BYTES][128];

// Per first two bytes of a group, by their lower five bits: the third bytes that make it one, a bit
// each. Groups of one set fit in mixtures that are none, which are more than the groups themselves.
extern const uint32_t secret_anchor_thirds[SECRET_ANCHOR_PAIRS];

static inline bool secret_anchor_at(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    return ((byte[0] | byte[1] | byte[2]) & 0x80) == 0 &&
           (secret_anchor_sets[0][byte[0]] & secret_anchor_sets[1][byte[1]] &
            secret_anchor_sets[2][byte[2]]) != 0 &&
           (secret_anchor_thirds[(byte[0] & 31) << 5 | (byte[1] & 31)] >> (byte[2] & 31) & 1);
}

// The first place at `from` or later where an anchor may stand; text.len when there is none.
size_t secret_anchor_next(struct str text, size_t from);

// Its variants; the wide one stops where less than a step is left, and says whether it found one.
size_t secret_anchor_next_scalar(struct str text, size_t from);
bool secret_anchor_wide_avx2(struct str text, size_t *at);
bool secret_anchor_has_avx2(void);

#endif
