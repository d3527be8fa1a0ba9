// SPDX-License-Identifier: Apache-2.0
// What all sources share.
#include "ingest/source.h"

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
