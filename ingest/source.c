// SPDX-License-Identifier: Apache-2.0
// What all sources share, and the detection of compression by the first bytes.
#include "ingest/source.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LAYERS 2

bool source_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    return source->ops->read(source, bytes, cap, got, err);
}

bool source_fill(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    *got = 0;
    while (*got < cap) {
        size_t part;
        if (!source_read(source, (char *)bytes + *got, cap - *got, &part, err))
            return false;
        if (part == 0)
            break;
        *got += part;
    }
    return true;
}

uint64_t source_consumed(const struct source *source)
{
    return source->ops->consumed(source);
}

void source_close(struct source *source)
{
    if (source)
        source->ops->close(source);
}

// Gives back bytes that were looked at, then reads on below.
struct peeked {
    struct source source;
    struct source *below;
    unsigned char head[8];
    size_t len, at;
};

static bool peeked_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct peeked *peeked = (struct peeked *)source;
    if (peeked->at == peeked->len)
        return source_read(peeked->below, bytes, cap, got, err);
    size_t left = peeked->len - peeked->at;
    *got = left < cap ? left : cap;
    memcpy(bytes, peeked->head + peeked->at, *got);
    peeked->at += *got;
    return true;
}

static void peeked_close(struct source *source)
{
    source_close(((struct peeked *)source)->below);
    free(source);
}

static uint64_t peeked_consumed(const struct source *source)
{
    return source_consumed(((const struct peeked *)source)->below);
}

static const struct source_ops peeked_ops = {peeked_read, peeked_close, peeked_consumed};

static struct peeked *peek(struct source *below, struct err *err)
{
    struct peeked *peeked = calloc(1, sizeof *peeked);
    if (!peeked) {
        source_close(below);
        err_set(err, ERR_LIMIT, "out of memory");
        return NULL;
    }
    *peeked = (struct peeked){.source = {&peeked_ops}, .below = below};
    if (!source_fill(below, peeked->head, sizeof peeked->head, &peeked->len, err)) {
        peeked_close(&peeked->source);
        return NULL;
    }
    return peeked;
}

static bool begins_with(const struct peeked *peeked, const char *magic, size_t len)
{
    return peeked->len >= len && memcmp(peeked->head, magic, len) == 0;
}

static bool is_zstd(const struct peeked *peeked)
{
    // 0x184D2A50 to 5F, little endian, begin a skippable frame.
    return begins_with(peeked, "\x28\xB5\x2F\xFD", 4) ||
           (peeked->len >= 4 && (peeked->head[0] & 0xF0) == 0x50 &&
            memcmp(peeked->head + 1, "\x2A\x4D\x18", 3) == 0);
}

struct source *source_detect(struct source *below, struct err *err)
{
    for (int layer = 0;; layer++) {
        struct peeked *peeked = peek(below, err);
        if (!peeked)
            return NULL;
        below = &peeked->source;
        if (layer == MAX_LAYERS)
            return below;
        if (begins_with(peeked, "\x1F\x8B", 2))
            below = source_gzip_open(below, err);
        else if (is_zstd(peeked))
            below = source_zstd_open(below, err);
        else
            return below;
        if (!below)
            return NULL;
    }
}
