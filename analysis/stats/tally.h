// SPDX-License-Identifier: Apache-2.0
// Sums by pairs of integers: how much of each thing every owner has, and which is the most.
#ifndef ANALYSIS_TALLY_H
#define ANALYSIS_TALLY_H

#include "analysis/stats/groups.h"

struct tally {
    struct groups pairs; // (owner, thing)
    int64_t *sums;       // per pair
    size_t cap;
};

// Pair with tally_free.
void tally_init(struct tally *tally, struct budget *budget);
void tally_free(struct tally *tally);

// Makes room for the sum of a new pair.
MUST_CHECK bool tally_grow(struct tally *tally, struct err *err);

MUST_CHECK static inline bool tally_add(struct tally *tally, uint32_t owner, uint32_t thing,
                                        int64_t amount, struct err *err)
{
    uint32_t known = tally->pairs.count, index;
    if (!groups_index(&tally->pairs, owner, thing, &index, err) ||
        (index == known && !tally_grow(tally, err)))
        return false;
    tally->sums[index] += amount;
    return true;
}

// Sets most[owner] to the thing with the largest sum, the first among equals; owners without any
// are left unchanged. best holds one number per owner, all lower than any sum.
void tally_most(const struct tally *tally, uint32_t *most, int64_t *best);

#endif
