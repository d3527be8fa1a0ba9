// SPDX-License-Identifier: Apache-2.0
// Makes a stream seekable; lends a source that already is.
#include "ingest/source/source.h"

#include "ingest/base/fd_io.h"

#include <stdlib.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)

struct copied {
    struct source source;
    struct scratch scratch;
    uint64_t size, at, consumed;
    struct err damage; // that ended the stream early; for the read after its bytes
};

static size_t least(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

static bool copied_read_at(struct source *source, const struct source_place *place, size_t *got,
                           struct err *err)
{
    struct copied *copied = (struct copied *)source;
    uint64_t left = place->offset < copied->size ? copied->size - place->offset : 0;
    size_t wanted = least(left, place->cap);
    uint64_t at = copied->scratch.from + place->offset;
    *got = wanted;
    return fd_read_at(copied->scratch.fd, place->bytes, wanted, at) == (ssize_t)wanted ||
           err_set_errno(err, "reading a temporary file");
}

static bool copied_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct copied *copied = (struct copied *)source;
    struct source_place place = {copied->at, bytes, cap};
    if (copied->at == copied->size && copied->damage.code != ERR_NONE) {
        if (err)
            *err = copied->damage;
        return false;
    }
    if (!copied_read_at(source, &place, got, err))
        return false;
    copied->at += *got;
    return true;
}

static void copied_close(struct source *source)
{
    free(source);
}

static uint64_t copied_consumed(const struct source *source)
{
    return ((const struct copied *)source)->consumed;
}

static bool copied_size(const struct source *source, uint64_t *size)
{
    *size = ((const struct copied *)source)->size;
    return true;
}

static const struct err *copied_damage(const struct source *source)
{
    const struct err *damage = &((const struct copied *)source)->damage;
    return damage->code == ERR_NONE ? NULL : damage;
}

static const struct source_ops copied_ops = {.read = copied_read,
                                             .close = copied_close,
                                             .consumed = copied_consumed,
                                             .size = copied_size,
                                             .read_at = copied_read_at,
                                             .damage = copied_damage};

static bool write_block(struct copied *copied, const char *bytes, size_t size, struct err *err)
{
    if (!fd_write_at(copied->scratch.fd, bytes, size, copied->scratch.from + copied->size))
        return err_set_errno(err, "unpacking into a temporary file");
    copied->size += size;
    return true;
}

// A truncated or damaged stream gives what came before.
static bool copy(struct copied *copied, struct source *below, char *block, struct err *err)
{
    struct err why;
    for (size_t got = 1; got;) {
        got = 0;
        if (!source_read(below, block, BLOCK_BYTES, &got, &why)) {
            bool some = why.code == ERR_FORMAT && copied->size;
            struct err *to = some ? &copied->damage : err;
            if (to)
                *to = why;
            return some;
        }
        if (!write_block(copied, block, got, err))
            return false;
    }
    copied->consumed = source_consumed(below);
    return true;
}

static bool copy_all(struct copied *copied, struct source *below, struct err *err)
{
    char *block = malloc(BLOCK_BYTES);
    bool ok = block ? copy(copied, below, block, err) : err_set(err, ERR_MEMORY, "out of memory");
    free(block);
    return ok;
}

struct source *source_seekable_open(struct source *below, struct scratch scratch, struct err *err)
{
    uint64_t size;
    if (source_size(below, &size))
        return below;
    struct copied *copied = calloc(1, sizeof *copied);
    bool ok = copied || err_set(err, ERR_MEMORY, "out of memory");
    if (ok && scratch.fd < 0)
        ok = err_set(err, ERR_UNSUPPORTED,
                     "it cannot be read from a pipe or compressed: expected an uncompressed file");
    if (ok) {
        *copied = (struct copied){.source.ops = &copied_ops, .scratch = scratch};
        ok = copy_all(copied, below, err);
    }
    source_close(below);
    if (ok)
        return &copied->source;
    free(copied);
    return NULL;
}

// --- lending ------------------------------------------------------------------------------------

struct lent {
    struct source source, *below;
};

static bool lent_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)source, (void)bytes, (void)cap, (void)got;
    return err_set(err, ERR_INTERNAL, "a lent source can only be read at offsets");
}

static void lent_close(struct source *source)
{
    free(source);
}

static uint64_t lent_consumed(const struct source *source)
{
    return source_consumed(((const struct lent *)source)->below);
}

static bool lent_size(const struct source *source, uint64_t *size)
{
    return source_size(((const struct lent *)source)->below, size);
}

static bool lent_read_at(struct source *source, const struct source_place *place, size_t *got,
                         struct err *err)
{
    return source_read_at(((struct lent *)source)->below, place, got, err);
}

static const struct err *lent_damage(const struct source *source)
{
    return source_damage(((const struct lent *)source)->below);
}

static const struct source_ops lent_ops = {.read = lent_read,
                                           .close = lent_close,
                                           .consumed = lent_consumed,
                                           .size = lent_size,
                                           .read_at = lent_read_at,
                                           .damage = lent_damage};

struct source *source_lend(struct source *below, struct err *err)
{
    struct lent *lent = malloc(sizeof *lent);
    if (!lent) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *lent = (struct lent){{&lent_ops}, below};
    return &lent->source;
}

// --- from the first byte on ---------------------------------------------------------------------

struct stream {
    struct source source, *below;
    uint64_t at;
};

static bool stream_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct stream *stream = (struct stream *)source;
    struct source_place place = {stream->at, bytes, cap};
    if (!source_read_at(stream->below, &place, got, err))
        return false;
    stream->at += *got;
    const struct err *damage = *got ? NULL : source_damage(stream->below);
    if (damage && err)
        *err = *damage;
    return !damage;
}

static uint64_t stream_consumed(const struct source *source)
{
    return ((const struct stream *)source)->at;
}

static const struct source_ops stream_ops = {
    .read = stream_read, .close = lent_close, .consumed = stream_consumed};

struct source *source_stream_open(struct source *below, struct err *err)
{
    struct stream *stream = malloc(sizeof *stream);
    if (!stream) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *stream = (struct stream){{&stream_ops}, below, 0};
    return &stream->source;
}
