// SPDX-License-Identifier: Apache-2.0
// Counted allocation.
#include "ingest/base/budget.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FEWEST_ITEMS    64                  // initial capacity of an array
#define POPULATED_BYTES ((size_t)128 << 10) // malloc maps these, without pages
#define HUGE_BYTES      ((size_t)4 << 20)   // two huge pages: one lies within, wherever it starts

static void raise_peak(struct budget *budget, uint64_t used)
{
    uint64_t peak = atomic_load_explicit(&budget->peak, memory_order_relaxed);
    while (used > peak &&
           !atomic_compare_exchange_weak_explicit(&budget->peak, &peak, used, memory_order_relaxed,
                                                  memory_order_relaxed))
        continue;
}

static bool refuse(struct budget *budget, uint64_t used, size_t size, struct err *err)
{
    atomic_store_explicit(&budget->refused, true, memory_order_relaxed);
    return err_set(err, ERR_LIMIT,
                   "needs more memory than its budget of %" PRIu64 " MiB allows (used %" PRIu64
                   " MiB, asked for %zu more bytes); raise --job-memory",
                   budget->limit >> 20, used >> 20, size);
}

static bool reserve(struct budget *budget, size_t size, struct err *err)
{
    if (!budget)
        return true;
    uint64_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (budget->limit && size > budget->limit - used)
            return refuse(budget, used, size, err);
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + size,
                                                    memory_order_relaxed, memory_order_relaxed));
    raise_peak(budget, used + size);
    return true;
}

static void give_back(struct budget *budget, size_t size)
{
    if (budget)
        atomic_fetch_sub_explicit(&budget->used, size, memory_order_relaxed);
}

// Has the system map all pages of a block at once, as huge ones where they fit. What shares its
// first and last page keeps its content. Where the system cannot, pages come as they are written.
static void populate(char *block, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)block % page;
    size_t all = (before + size + page - 1) / page * page;
    if (size >= HUGE_BYTES)
        (void)madvise(block - before, all, MADV_HUGEPAGE);
    (void)madvise(block - before, all, MADV_POPULATE_WRITE);
#else
    (void)block;
    (void)size;
#endif
}

void *budget_alloc(struct budget *budget, size_t size, struct err *err)
{
    void *block = budget_realloc(budget, NULL, 0, size, err);
    if (block && size >= POPULATED_BYTES)
        populate(block, size);
    return block;
}

void *budget_zalloc(struct budget *budget, size_t size, struct err *err)
{
    if (!reserve(budget, size, err))
        return NULL;
    void *block = calloc(1, size ? size : 1);
    if (!block) {
        give_back(budget, size);
        err_set(err, ERR_MEMORY, "out of memory asking for %zu bytes", size);
    }
    return block;
}

void *budget_realloc(struct budget *budget, void *block, size_t old_size, size_t new_size,
                     struct err *err)
{
    // Large blocks are remapped, so growing one never holds both copies.
    if (new_size > old_size && !reserve(budget, new_size - old_size, err))
        return NULL;
    void *grown = realloc(block, new_size ? new_size : 1);
    if (!grown) {
        give_back(budget, new_size > old_size ? new_size - old_size : 0);
        err_set(err, ERR_MEMORY, "out of memory asking for %zu bytes", new_size);
        return NULL;
    }
    give_back(budget, new_size < old_size ? old_size - new_size : 0);
    return grown;
}

void *budget_grow(struct budget *budget, void *block, size_t *cap, size_t count, size_t size,
                  struct err *err)
{
    size_t wanted = *cap ? 2 * *cap : FEWEST_ITEMS;
    wanted = wanted < count ? count : wanted;
    void *grown = budget_realloc(budget, block, *cap * size, wanted * size, err);
    if (grown)
        *cap = wanted;
    return grown;
}

void budget_free(struct budget *budget, void *block, size_t size)
{
    if (!block)
        return;
    give_back(budget, size);
    free(block);
}
