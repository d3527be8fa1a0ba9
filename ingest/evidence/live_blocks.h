// SPDX-License-Identifier: Apache-2.0
// The blocks of device memory that are in use, by address, while allocations are replayed.
#ifndef INGEST_EVIDENCE_LIVE_BLOCKS_H
#define INGEST_EVIDENCE_LIVE_BLOCKS_H

#include "ingest/base/budget.h"
#include "ingest/base/hash.h"

struct live_block {
    uint64_t address;
    int64_t size, time_us; // of the allocation
    uint32_t stack;
    uint32_t device; // LIVE_NONE: the slot is free
};

#define LIVE_NONE UINT32_MAX

// Starts as zeros.
struct live_blocks {
    struct live_block *slots;
    size_t cap, count;
    struct hash_key hash;
};

void live_blocks_free(struct live_blocks *blocks, struct budget *budget);

// NULL: none is in use there.
const struct live_block *live_blocks_find(const struct live_blocks *blocks, uint32_t device,
                                          uint64_t address);
// There must be none at that address. ERR_LIMIT past the budget.
MUST_CHECK bool live_blocks_add(struct live_blocks *blocks, struct budget *budget,
                                const struct live_block *block, struct err *err);
// Of those that live_blocks_find gives.
void live_blocks_remove(struct live_blocks *blocks, const struct live_block *block);

#endif
