// SPDX-License-Identifier: Apache-2.0
// Plain bytes as a gzip member or a zstd frame of stored blocks, which take next to no time.
#include "ingest/source/source.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)65535) // the most that gzip can store in a block

enum stage { HEADER, BLOCKS, END };

struct stored {
    struct source source;
    struct source *below;
    enum source_coding coding;
    enum stage stage;
    uint32_t crc, size; // of the plain bytes, as gzip wants them
    size_t len, at;     // of what is to be returned
    unsigned char bytes[BLOCK_BYTES + 16];
};

static void put(struct stored *stored, const void *bytes, size_t len)
{
    memcpy(stored->bytes + stored->len, bytes, len);
    stored->len += len;
}

static void put_number(struct stored *stored, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        stored->bytes[stored->len++] = (unsigned char)(number >> 8 * i);
}

static void put_header(struct stored *stored)
{
    static const unsigned char gzip[] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF};
    // no size, no checksum, a window of 2 MiB
    static const unsigned char zstd[] = {0x28, 0xB5, 0x2F, 0xFD, 0, 0x58};
    if (stored->coding == SOURCE_GZIP)
        put(stored, gzip, sizeof gzip);
    else
        put(stored, zstd, sizeof zstd);
}

// The head of a block; one without bytes is the last.
static void put_block(struct stored *stored, size_t size)
{
    uint64_t is_last = size == 0;
    if (stored->coding == SOURCE_GZIP) {
        put_number(stored, is_last, 1);
        put_number(stored, size, 2);
        put_number(stored, ~size, 2);
    } else {
        put_number(stored, size << 3 | is_last, 3);
    }
}

static bool refill(struct stored *stored, struct err *err)
{
    unsigned char *bytes = stored->bytes + 5;
    size_t size;
    stored->len = stored->at = 0;
    if (stored->stage == HEADER) {
        put_header(stored);
        stored->stage = BLOCKS;
        return true;
    }
    if (!source_fill(stored->below, bytes, BLOCK_BYTES, &size, err))
        return false;
    stored->crc = crc32_gzip_refl(stored->crc, bytes, size);
    stored->size += (uint32_t)size;
    put_block(stored, size);
    memmove(stored->bytes + stored->len, bytes, size);
    stored->len += size;
    if (size)
        return true;
    stored->stage = END;
    if (stored->coding == SOURCE_GZIP) {
        put_number(stored, stored->crc, 4);
        put_number(stored, stored->size, 4);
    }
    return true;
}

static bool stored_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct stored *stored = (struct stored *)source;
    *got = 0;
    if (stored->at == stored->len && stored->stage != END && !refill(stored, err))
        return false;
    size_t left = stored->len - stored->at;
    *got = left < cap ? left : cap;
    memcpy(bytes, stored->bytes + stored->at, *got);
    stored->at += *got;
    return true;
}

static void stored_close(struct source *source)
{
    source_close(((struct stored *)source)->below);
    free(source);
}

static uint64_t stored_consumed(const struct source *source)
{
    return source_consumed(((const struct stored *)source)->below);
}

static const struct source_ops stored_ops = {
    .read = stored_read, .close = stored_close, .consumed = stored_consumed};

struct source *source_stored_open(struct source *below, enum source_coding coding, struct err *err)
{
    struct stored *stored = malloc(sizeof *stored);
    if (!stored) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    stored->source.ops = &stored_ops;
    stored->below = below;
    stored->coding = coding;
    stored->stage = HEADER;
    stored->crc = stored->size = 0;
    stored->len = stored->at = 0;
    return &stored->source;
}

enum source_coding source_coding_of(struct str head)
{
    if (str_starts_with(head, STR("\x1F\x8B")))
        return SOURCE_GZIP;
    return str_starts_with(head, STR("\x28\xB5\x2F\xFD")) ? SOURCE_ZSTD : SOURCE_PLAIN;
}
