// SPDX-License-Identifier: Apache-2.0
// Removes layers of compression until the format is known.
#include "ingest/format.h"
#include "ingest/source/source.h"

struct source *format_open(struct source *below, struct str filename, struct format_found *found,
                           struct err *err)
{
    *found = (struct format_found){0};
    for (;;) {
        below = source_peek_open(below, FORMAT_HEAD_BYTES, &found->head, err);
        if (!below)
            return NULL;
        found->format = format_find(found->head, filename);
        if (!found->format || !found->format->decode || found->layer_count == FORMAT_MAX_LAYERS)
            return below;
        found->layers[found->layer_count++] = found->format;
        below = found->format->decode(below, err);
        if (!below)
            return NULL;
    }
}
