// SPDX-License-Identifier: Apache-2.0
// Removes layers of compression until the format is known.
#include "ingest/source/format.h"
#include "ingest/source/source.h"

static bool is_database(const struct format *format)
{
    return format && format->kind == FORMAT_DATABASE;
}

// A zip is not copied: unpack_open refuses a compressed one.
static bool needs_positions(const struct format *format)
{
    return format && format->access == FORMAT_SEEK && format->kind != FORMAT_ARCHIVE;
}

// A source that can be read at any position. A database is recognized by its tables.
static struct source *open_seekable(struct source *source, const struct format_hint *hint,
                                    struct format_found *found, struct err *err)
{
    uint64_t size;
    if (!source_size(source, &size) && hint->scratch.fd < 0)
        return source; // it can be named, but not read
    if (!source_size(source, &size) &&
        !(source = source_limit_open(source, source_trace_limits, err)))
        return NULL;
    source = source_seekable_open(source, hint->scratch, err);
    if (!source)
        return NULL;
    const struct format *format = is_database(found->format) ? format_of_database(source) : NULL;
    found->format = format ? format : found->format;
    return source_peek_open(source, FORMAT_HEAD_BYTES, &found->head, err);
}

struct source *format_open(struct source *below, const struct format_hint *hint,
                           struct format_found *found, struct err *err)
{
    static const struct format_hint none = {{"", 0}, {-1, 0}};
    hint = hint ? hint : &none;
    *found = (struct format_found){0};
    for (;;) {
        below = source_peek_open(below, FORMAT_HEAD_BYTES, &found->head, err);
        if (!below)
            return NULL;
        found->format = format_find(found->head, hint->filename);
        if (needs_positions(found->format))
            return open_seekable(below, hint, found, err);
        if (!found->format || !found->format->decode || found->layer_count == FORMAT_MAX_LAYERS)
            return below;
        found->layers[found->layer_count++] = found->format;
        below = found->format->decode(below, err);
        if (!below)
            return NULL;
    }
}
