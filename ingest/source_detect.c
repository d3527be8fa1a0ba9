// SPDX-License-Identifier: Apache-2.0
// Tells compression by the first bytes, never by a name.
#include "ingest/source.h"

#define MAX_LAYERS  2
#define MAGIC_BYTES 4

static bool is_zstd(struct str head)
{
    // 0x184D2A50 to 5F, little endian, begin a skippable frame.
    return str_starts_with(head, STR("\x28\xB5\x2F\xFD")) ||
           (head.len >= 4 && (head.at[0] & 0xF0) == 0x50 &&
            memcmp(head.at + 1, "\x2A\x4D\x18", 3) == 0);
}

struct source *source_detect(struct source *below, struct err *err)
{
    for (int layer = 0;; layer++) {
        struct str head;
        below = source_peek_open(below, MAGIC_BYTES, &head, err);
        if (!below || layer == MAX_LAYERS)
            return below;
        if (str_starts_with(head, STR("\x1F\x8B")))
            below = source_gzip_open(below, err);
        else if (is_zstd(head))
            below = source_zstd_open(below, err);
        else
            return below;
        if (!below)
            return NULL;
    }
}
