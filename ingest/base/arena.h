// SPDX-License-Identifier: Apache-2.0
// An arena: allocations that die together. A job, a task or a request owns one.
#ifndef INGEST_BASE_ARENA_H
#define INGEST_BASE_ARENA_H

#include "ingest/base/budget.h"
#include "ingest/base/str.h"

struct arena_chunk;

// Used by one thread at a time.
struct arena {
    struct arena_chunk *chunks;
    size_t chunk_bytes;    // of the next chunk
    struct budget *budget; // NULL: not counted
};

// Prepares an empty arena; budget may be NULL. Pair with arena_free.
void arena_init(struct arena *arena, struct budget *budget);
void arena_free(struct arena *arena);

// What the arena holds of memory.
size_t arena_bytes(const struct arena *arena);

// Moves all that other holds into arena, which frees it from now on. Both count in one budget.
void arena_take(struct arena *arena, struct arena *other);

// Returns size zeroed bytes aligned for any type, or NULL with ERR_LIMIT.
MUST_CHECK void *arena_alloc(struct arena *arena, size_t size, struct err *err);

// The same for count elements of size bytes; refuses overflow.
MUST_CHECK void *arena_array(struct arena *arena, size_t count, size_t size, struct err *err);

// The same without zeroes, for what is filled from begin to end.
MUST_CHECK void *arena_room(struct arena *arena, size_t count, size_t size, struct err *err);

// Makes a block of old_size bytes longer, as arena_room does; what is in it moves along. A large
// one, which has memory of its own, leaves no copy behind. NULL leaves block as it is.
MUST_CHECK void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size,
                            struct err *err);

// Copies text into the arena with a terminating NUL. NULL with ERR_LIMIT.
MUST_CHECK char *arena_strdup(struct arena *arena, struct str text, struct err *err);

// printf into the arena. NULL with ERR_LIMIT.
MUST_CHECK char *arena_printf(struct arena *arena, struct err *err, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
