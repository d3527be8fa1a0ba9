// SPDX-License-Identifier: Apache-2.0
// Code shared by all sources.
#include "ingest/source/source.h"

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

bool source_size(const struct source *source, uint64_t *size)
{
    return source->ops->size && source->ops->size(source, size);
}

bool source_read_at(struct source *source, const struct source_place *place, size_t *got,
                    struct err *err)
{
    struct source_place rest = *place;
    for (size_t part = 1; part > 0 && rest.cap > 0;) {
        if (!source->ops->read_at(source, &rest, &part, err))
            return false;
        rest =
            (struct source_place){rest.offset + part, (char *)rest.bytes + part, rest.cap - part};
    }
    *got = place->cap - rest.cap;
    return true;
}

const struct err *source_damage(const struct source *source)
{
    return source->ops->damage ? source->ops->damage(source) : NULL;
}

void source_spread(struct source *source, struct cores *cores)
{
    if (source->ops->spread)
        source->ops->spread(source, cores);
}

void source_close(struct source *source)
{
    if (source)
        source->ops->close(source);
}
