// SPDX-License-Identifier: Apache-2.0
// Sums next to a hash table of pairs.
#include "analysis/stats/tally.h"

void tally_init(struct tally *tally, struct budget *budget)
{
    *tally = (struct tally){.cap = 0};
    groups_init(&tally->pairs, budget);
}

void tally_free(struct tally *tally)
{
    budget_free(tally->pairs.budget, tally->sums, tally->cap * sizeof *tally->sums);
    groups_free(&tally->pairs);
    tally->sums = NULL;
    tally->cap = 0;
}

bool tally_grow(struct tally *tally, struct err *err)
{
    int64_t *sums = budget_room(tally->pairs.budget, tally->sums, &tally->cap, tally->pairs.count,
                                sizeof *sums, err);
    if (!sums)
        return false;
    tally->sums = sums;
    sums[tally->pairs.count - 1] = 0;
    return true;
}

void tally_most(const struct tally *tally, uint32_t *most, int64_t *best)
{
    for (uint32_t i = 0; i < tally->pairs.count; i++) {
        uint64_t owner = tally->pairs.keys[i].a;
        if (tally->sums[i] <= best[owner])
            continue;
        best[owner] = tally->sums[i];
        most[owner] = (uint32_t)tally->pairs.keys[i].b;
    }
}
