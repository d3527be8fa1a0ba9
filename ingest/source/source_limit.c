// SPDX-License-Identifier: Apache-2.0
// Stops a stream that grows unreasonably: too many bytes, or too many for their compressed size.
#include "ingest/source/source.h"

#include <inttypes.h>
#include <stdlib.h>

#define RATIO_FREE_BYTES ((uint64_t)64 << 20) // small files may compress to any ratio

const struct source_limits source_trace_limits = {
    .max_bytes = (uint64_t)256 << 30,
    .max_ratio = 200,
};

struct limit {
    struct source source;
    struct source *below;
    struct source_limits limits;
    uint64_t bytes;
};

static bool limit_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct limit *limit = (struct limit *)source;
    if (!source_read(limit->below, bytes, cap, got, err))
        return false;
    limit->bytes += *got;
    if (limit->bytes > limit->limits.max_bytes)
        return err_set_at(err, ERR_LIMIT, limit->bytes, "decompresses to more than %" PRIu64 " GiB",
                          limit->limits.max_bytes >> 30);
    if (limit->bytes > RATIO_FREE_BYTES &&
        limit->bytes / limit->limits.max_ratio > source_consumed(limit->below))
        return err_set_at(err, ERR_LIMIT, limit->bytes,
                          "decompresses to more than %" PRIu64
                          " times its size, more than any trace",
                          limit->limits.max_ratio);
    return true;
}

static void limit_close(struct source *source)
{
    source_close(((struct limit *)source)->below);
    free(source);
}

static uint64_t limit_consumed(const struct source *source)
{
    return source_consumed(((const struct limit *)source)->below);
}

static const struct source_ops limit_ops = {
    .read = limit_read, .close = limit_close, .consumed = limit_consumed};

struct source *source_limit_open(struct source *below, struct source_limits limits, struct err *err)
{
    struct limit *limit = malloc(sizeof *limit);
    if (!limit) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *limit = (struct limit){{&limit_ops}, below, limits, 0};
    return &limit->source;
}
