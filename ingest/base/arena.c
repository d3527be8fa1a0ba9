// SPDX-License-Identifier: Apache-2.0
// Arena made of chained chunks; a large request gets its own chunk.
#include "ingest/base/arena.h"
#include "ingest/base/fuzzed.h"

#include <assert.h>
#include <stdarg.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CHUNK_BYTES ((size_t)4 << 10) // small, because a job has dozens of arenas
#define CHUNK_BYTES       ((size_t)FUZZED_SIZE(64 << 10, 8 << 10))

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; // of data
    size_t used;
    max_align_t data[];
};

void arena_init(struct arena *arena, struct budget *budget)
{
    arena->chunks = NULL;
    arena->chunk_bytes = FIRST_CHUNK_BYTES;
    arena->budget = budget;
}

static void release(struct arena *arena, struct arena_chunk *chunk)
{
    if (arena->budget)
        budget_free(arena->budget, chunk, sizeof *chunk + chunk->size);
    else
        free(chunk);
}

void arena_free(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        release(arena, arena->chunks);
        arena->chunks = next;
    }
}

size_t arena_bytes(const struct arena *arena)
{
    size_t sum = 0;
    for (const struct arena_chunk *chunk = arena->chunks; chunk; chunk = chunk->next)
        sum += sizeof *chunk + chunk->size;
    return sum;
}

static struct budget *budget_of(const struct arena *arena, struct budget *uncounted)
{
    return arena->budget ? arena->budget : uncounted;
}

// A chunk for one large block is zeroed up front; others are zeroed as they are used. Much of what
// is only room may stay unused, so the system gives its pages as they are written.
static struct arena_chunk *chunk_new(struct arena *arena, size_t size, bool zeroed, struct err *err)
{
    struct budget uncounted = {0}, *budget = budget_of(arena, &uncounted);
    struct arena_chunk *chunk = zeroed ? budget_zalloc(budget, sizeof *chunk + size, err)
                                       : budget_realloc(budget, NULL, 0, sizeof *chunk + size, err);
    if (!chunk)
        return NULL;
    *chunk = (struct arena_chunk){.size = size};
    if (arena->chunk_bytes < CHUNK_BYTES)
        arena->chunk_bytes *= 2;
    return chunk;
}

static size_t aligned(size_t size)
{
    return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

// Takes a block of size bytes; *zeroed is set if it is already zero.
static void *take(struct arena *arena, size_t size, bool zeroes, bool *zeroed, struct err *err)
{
    size_t need = aligned(size);
    if (need < size || need > SIZE_MAX / 2) {
        err_set(err, ERR_LIMIT, "cannot allocate %zu bytes", size);
        return NULL;
    }
    struct arena_chunk *chunk = arena->chunks;
    *zeroed = false;
    if (!chunk || chunk->size - chunk->used < need) {
        bool large = need > arena->chunk_bytes;
        *zeroed = large && zeroes;
        chunk = chunk_new(arena, large ? need : arena->chunk_bytes, *zeroed, err);
        if (!chunk)
            return NULL;
        // A large block goes after the current chunk, whose free tail stays in use.
        if (large && arena->chunks) {
            chunk->next = arena->chunks->next;
            arena->chunks->next = chunk;
        } else {
            chunk->next = arena->chunks;
            arena->chunks = chunk;
        }
    }
    void *block = (char *)chunk->data + chunk->used;
    chunk->used += need;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size, struct err *err)
{
    bool zeroed;
    void *block = take(arena, size, true, &zeroed, err);
    return block && !zeroed ? memset(block, 0, size) : block;
}

static bool multiply(size_t count, size_t size, size_t *product, struct err *err)
{
    *product = count * size;
    return !size || count <= SIZE_MAX / 2 / size ||
           err_set(err, ERR_LIMIT, "cannot allocate %zu elements of %zu bytes", count, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size, struct err *err)
{
    size_t bytes;
    return multiply(count, size, &bytes, err) ? arena_alloc(arena, bytes, err) : NULL;
}

void *arena_room(struct arena *arena, size_t count, size_t size, struct err *err)
{
    size_t bytes;
    bool zeroed;
    return multiply(count, size, &bytes, err) ? take(arena, bytes, false, &zeroed, err) : NULL;
}

// The link to the chunk that holds only this block; NULL if the chunk is shared.
static struct arena_chunk **chunk_of(struct arena *arena, const void *block, size_t size)
{
    for (struct arena_chunk **link = &arena->chunks; *link; link = &(*link)->next)
        if ((const void *)(*link)->data == block)
            return (*link)->size == aligned(size) ? link : NULL;
    return NULL;
}

static void *chunk_grow(struct arena *arena, struct arena_chunk **link, size_t size,
                        struct err *err)
{
    struct budget uncounted = {.used = sizeof **link + (*link)->size};
    struct arena_chunk *chunk =
        budget_realloc(budget_of(arena, &uncounted), *link, sizeof *chunk + (*link)->size,
                       sizeof *chunk + size, err);
    if (!chunk)
        return NULL;
    chunk->size = chunk->used = size;
    *link = chunk;
    return chunk->data;
}

void *arena_grow(struct arena *arena, void *block, size_t old_size, size_t new_size,
                 struct err *err)
{
    struct arena_chunk **link =
        old_size > CHUNK_BYTES && new_size > old_size && new_size < SIZE_MAX / 4
            ? chunk_of(arena, block, old_size)
            : NULL;
    if (link)
        return chunk_grow(arena, link, aligned(new_size), err);
    void *room = arena_room(arena, new_size, 1, err);
    if (room && old_size)
        memcpy(room, block, old_size);
    return room;
}

void *arena_more(struct arena *arena, void *items, size_t count, size_t size, struct err *err)
{
    bool is_full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
    if (!is_full)
        return items;
    size_t cap = count < 8 ? 8 : 2 * count;
    char *grown = arena_grow(arena, items, count * size, cap * size, err);
    if (grown)
        memset(grown + count * size, 0, (cap - count) * size);
    return grown;
}

void arena_take(struct arena *arena, struct arena *other)
{
    assert(arena->budget == other->budget);
    struct arena_chunk **end = arena->chunks ? &arena->chunks->next : &arena->chunks;
    struct arena_chunk *rest = *end;
    *end = other->chunks;
    while (*end)
        end = &(*end)->next;
    *end = rest;
    other->chunks = NULL;
}

char *arena_strdup(struct arena *arena, struct str text, struct err *err)
{
    char *copy = arena_alloc(arena, text.len + 1, err);
    if (copy && text.len)
        memcpy(copy, text.at, text.len);
    return copy;
}

char *arena_printf(struct arena *arena, struct err *err, const char *fmt, ...)
{
    va_list args;
    va_list again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1, err);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return text;
}
