// SPDX-License-Identifier: Apache-2.0
// Open, probe, read, seal.
#include "ingest/ingest.h"

#include <stdlib.h>

// A trace compresses 10 to 40 times; more than this is an attack.
static const struct source_limits limits = {
    .max_bytes = (uint64_t)256 << 30,
    .max_ratio = 200,
};

// Gives back the head that the probe looked at, then reads on below.
struct headed {
    struct source source;
    struct source *below;
    size_t len, at;
    char head[FORMAT_HEAD_BYTES];
};

static bool headed_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct headed *headed = (struct headed *)source;
    if (headed->at == headed->len)
        return source_read(headed->below, bytes, cap, got, err);
    *got = headed->len - headed->at < cap ? headed->len - headed->at : cap;
    memcpy(bytes, headed->head + headed->at, *got);
    headed->at += *got;
    return true;
}

static void headed_close(struct source *source)
{
    source_close(((struct headed *)source)->below);
    free(source);
}

static uint64_t headed_consumed(const struct source *source)
{
    return source_consumed(((const struct headed *)source)->below);
}

static const struct source_ops headed_ops = {headed_read, headed_close, headed_consumed};

static struct headed *look_at_head(struct source *below, struct err *err)
{
    struct headed *headed = calloc(1, sizeof *headed);
    if (!headed) {
        source_close(below);
        err_set(err, ERR_LIMIT, "out of memory");
        return NULL;
    }
    *headed = (struct headed){.source = {&headed_ops}, .below = below};
    struct err cut;
    bool ok = source_fill(below, headed->head, sizeof headed->head, &headed->len, &cut);
    // A stream that is cut within the head still has a head; the reader meets the cut again.
    if (!ok && (cut.code != ERR_FORMAT || headed->len == 0)) {
        headed_close(&headed->source);
        *err = cut;
        return NULL;
    }
    return headed;
}

static struct trace *read_and_seal(struct source *source, struct str head, struct budget *budget,
                                   struct progress *progress, struct err *err)
{
    const struct format *format = format_probe(head, err);
    struct trace_builder *builder = format ? trace_builder_new(budget, err) : NULL;
    if (!builder)
        return NULL;
    if (!format->read(source, builder, budget, progress, err)) {
        trace_builder_free(builder);
        return NULL;
    }
    return trace_builder_seal(builder, err);
}

struct trace *ingest_source(struct source *source, struct budget *budget, struct progress *progress,
                            struct err *err)
{
    if (!(source = source_detect(source, err)) ||
        !(source = source_limit_open(source, limits, err)) ||
        !(source = source_ahead_open(source, err)))
        return NULL;
    struct headed *headed = look_at_head(source, err);
    if (!headed)
        return NULL;
    struct trace *trace = read_and_seal(&headed->source, (struct str){headed->head, headed->len},
                                        budget, progress, err);
    source_close(&headed->source);
    return trace;
}

struct trace *ingest_file(const char *path, struct budget *budget, struct progress *progress,
                          struct err *err)
{
    struct source *source = source_file_open(path, err);
    return source ? ingest_source(source, budget, progress, err) : NULL;
}
