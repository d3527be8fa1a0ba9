// SPDX-License-Identifier: Apache-2.0
// A memory budget: every large allocation of a job is counted, and one past the limit fails
// cleanly.
#ifndef INGEST_BASE_BUDGET_H
#define INGEST_BASE_BUDGET_H

#include "ingest/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// Shared by the threads of a job. limit 0 means no limit. Functions take NULL for memory that is
// not counted; free() frees that as well.
struct budget {
    uint64_t limit;
    _Atomic uint64_t used;
    _Atomic uint64_t peak;
    _Atomic bool refused; // some allocation would have passed the limit
};

// Returns size bytes, uninitialized, or NULL with ERR_LIMIT (past the limit or out of memory).
// Meant for blocks that are written to their end: a large one comes with all of its pages, which
// costs less than a fault for each. What may stay unused is asked for by the others.
MUST_CHECK void *budget_alloc(struct budget *budget, size_t size, struct err *err);

// Same, zeroed; large blocks come from the system as zeros and cost nothing until touched.
MUST_CHECK void *budget_zalloc(struct budget *budget, size_t size, struct err *err);

// Grows or shrinks a block of old_size bytes; on failure returns NULL and the block stays valid.
MUST_CHECK void *budget_realloc(struct budget *budget, void *block, size_t old_size,
                                size_t new_size, struct err *err);

MUST_CHECK void *budget_grow(struct budget *budget, void *block, size_t *cap, size_t count,
                             size_t size, struct err *err);

// Makes room for at least `count` items of `size` bytes, doubling as needed; *cap is the new
// capacity. New items are uninitialized. On NULL with ERR_LIMIT, block and *cap are unchanged.
MUST_CHECK static inline void *budget_room(struct budget *budget, void *block, size_t *cap,
                                           size_t count, size_t size, struct err *err)
{
    return block && count <= *cap ? block : budget_grow(budget, block, cap, count, size, err);
}

// Frees a block of size bytes; NULL is allowed.
void budget_free(struct budget *budget, void *block, size_t size);

#endif
