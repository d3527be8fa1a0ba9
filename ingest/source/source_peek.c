// SPDX-License-Identifier: Apache-2.0
// Looks at the first bytes of a source, then hands them out before the rest.
#include "ingest/source/source.h"

#include <stdlib.h>

struct peek {
    struct source source;
    struct source *below;
    struct err error; // hit while peeking; for the read after the head
    size_t len, at;
    char head[];
};

static bool peek_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct peek *peek = (struct peek *)source;
    if (peek->at == peek->len && peek->error.code != ERR_NONE) {
        if (err)
            *err = peek->error;
        return false;
    }
    if (peek->at == peek->len)
        return source_read(peek->below, bytes, cap, got, err);
    size_t left = peek->len - peek->at;
    *got = left < cap ? left : cap;
    memcpy(bytes, peek->head + peek->at, *got);
    peek->at += *got;
    return true;
}

static void peek_close(struct source *source)
{
    source_close(((struct peek *)source)->below);
    free(source);
}

static uint64_t peek_consumed(const struct source *source)
{
    return source_consumed(((const struct peek *)source)->below);
}

static bool peek_size(const struct source *source, uint64_t *size)
{
    return source_size(((const struct peek *)source)->below, size);
}

static bool peek_read_at(struct source *source, const struct source_place *place, size_t *got,
                         struct err *err)
{
    return source_read_at(((struct peek *)source)->below, place, got, err);
}

static void peek_spread(struct source *source, struct cores *cores)
{
    source_spread(((struct peek *)source)->below, cores);
}

static const struct err *peek_damage(const struct source *source)
{
    return source_damage(((const struct peek *)source)->below);
}

static const struct source_ops peek_ops = {.read = peek_read,
                                           .close = peek_close,
                                           .consumed = peek_consumed,
                                           .size = peek_size,
                                           .read_at = peek_read_at,
                                           .spread = peek_spread,
                                           .damage = peek_damage};

struct source *source_peek_open(struct source *below, size_t cap, struct str *head, struct err *err)
{
    struct peek *peek = malloc(sizeof *peek + cap);
    if (!peek) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *peek = (struct peek){.source = {&peek_ops}, .below = below};
    if (!source_fill(below, peek->head, cap, &peek->len, &peek->error) && peek->len == 0) {
        if (err)
            *err = peek->error;
        peek_close(&peek->source);
        return NULL;
    }
    *head = (struct str){peek->head, peek->len};
    return &peek->source;
}
