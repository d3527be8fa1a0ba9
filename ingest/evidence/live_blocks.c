// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/live_blocks.h"

enum { FEWEST_SLOTS = 64 };

void live_blocks_free(struct live_blocks *blocks, struct budget *budget)
{
    budget_free(budget, blocks->slots, blocks->cap * sizeof *blocks->slots);
}

static size_t home_of(const struct live_blocks *blocks, uint32_t device, uint64_t address)
{
    const uint64_t key[] = {address, device};
    return (size_t)hash_keyed(blocks->hash, (const char *)key, sizeof key) & (blocks->cap - 1);
}

static size_t after(const struct live_blocks *blocks, size_t slot)
{
    return (slot + 1) & (blocks->cap - 1);
}

const struct live_block *live_blocks_find(const struct live_blocks *blocks, uint32_t device,
                                          uint64_t address)
{
    if (blocks->cap == 0)
        return NULL;
    size_t at = home_of(blocks, device, address);
    for (; blocks->slots[at].device != LIVE_NONE; at = after(blocks, at))
        if (blocks->slots[at].address == address && blocks->slots[at].device == device)
            return &blocks->slots[at];
    return NULL;
}

static void put(struct live_blocks *blocks, const struct live_block *block)
{
    size_t at = home_of(blocks, block->device, block->address);
    while (blocks->slots[at].device != LIVE_NONE)
        at = after(blocks, at);
    blocks->slots[at] = *block;
    blocks->count++;
}

static bool grow(struct live_blocks *blocks, struct budget *budget, struct err *err)
{
    struct live_blocks larger = {.cap = blocks->cap ? 2 * blocks->cap : FEWEST_SLOTS,
                                 .hash = blocks->cap ? blocks->hash : hash_key_random()};
    larger.slots = budget_alloc(budget, larger.cap * sizeof *larger.slots, err);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < larger.cap; i++)
        larger.slots[i].device = LIVE_NONE;
    for (size_t i = 0; i < blocks->cap; i++)
        if (blocks->slots[i].device != LIVE_NONE)
            put(&larger, &blocks->slots[i]);
    live_blocks_free(blocks, budget);
    *blocks = larger;
    return true;
}

bool live_blocks_add(struct live_blocks *blocks, struct budget *budget,
                     const struct live_block *block, struct err *err)
{
    if (3 * (blocks->count + 1) > 2 * blocks->cap && !grow(blocks, budget, err))
        return false;
    put(blocks, block);
    return true;
}

// Moves up blocks that were placed after the freed slot because it was taken.
void live_blocks_remove(struct live_blocks *blocks, const struct live_block *block)
{
    size_t hole = (size_t)(block - blocks->slots), mask = blocks->cap - 1;
    for (size_t at = after(blocks, hole); blocks->slots[at].device != LIVE_NONE;
         at = after(blocks, at)) {
        const struct live_block *next = &blocks->slots[at];
        size_t home = home_of(blocks, next->device, next->address);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        blocks->slots[hole] = *next;
        hole = at;
    }
    blocks->slots[hole].device = LIVE_NONE;
    blocks->count--;
}
