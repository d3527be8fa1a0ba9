// SPDX-License-Identifier: Apache-2.0
// An arena: allocations that are freed together. Each job, task or request owns one.
#ifndef INGEST_BASE_ARENA_H
#define INGEST_BASE_ARENA_H

#include "ingest/base/budget.h"
#include "ingest/base/str.h"

struct arena_chunk;

// Not thread-safe.
struct arena {
    struct arena_chunk *chunks;
    size_t chunk_bytes;    // of the next chunk
    struct budget *budget; // NULL: not counted
};

// Prepares an empty arena; budget may be NULL. Pair with arena_free.
void arena_init(struct arena *arena, struct budget *budget);
void arena_free(struct arena *arena);

// Bytes the arena holds.
size_t arena_bytes(const struct arena *arena);

// Moves everything in other into arena, which frees it from now on. Both must share one budget.
void arena_take(struct arena *arena, struct arena *other);

// Returns size zeroed bytes aligned for any type, or NULL with ERR_LIMIT.
MUST_CHECK void *arena_alloc(struct arena *arena, size_t size, struct err *err);

// Same for count elements of size bytes; refuses overflow.
MUST_CHECK void *arena_array(struct arena *arena, size_t count, size_t size, struct err *err);

// Same without zeroing, for memory that the caller fills completely.
MUST_CHECK void *arena_room(struct arena *arena, size_t count, size_t size, struct err *err);

// Grows a block of old_size bytes and moves its contents; the new part is not zeroed. A large
// block, which has its own chunk, leaves no copy behind. On NULL the block is unchanged.
MUST_CHECK void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size,
                            struct err *err);

// Room for one more item in an array of count: the array, moved if it was full, new items zeroed.
// The capacity follows from count, which only grows. On NULL the array is unchanged.
MUST_CHECK void *arena_more(struct arena *arena, void *items, size_t count, size_t size,
                            struct err *err);

// Copies text into the arena with a terminating NUL. NULL with ERR_LIMIT.
MUST_CHECK char *arena_strdup(struct arena *arena, struct str text, struct err *err);

// printf into the arena. NULL with ERR_LIMIT.
MUST_CHECK char *arena_printf(struct arena *arena, struct err *err, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
