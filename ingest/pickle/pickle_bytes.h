// SPDX-License-Identifier: Apache-2.0
// The bytes of a pickle from its source, with their position.
#ifndef INGEST_PICKLE_PICKLE_BYTES_H
#define INGEST_PICKLE_PICKLE_BYTES_H

#include "ingest/base/budget.h"
#include "ingest/base/fuzzed.h"
#include "ingest/source/source.h"

#define PICKLE_BLOCK ((size_t)FUZZED_SIZE(64 << 10, 64))

struct pickle_bytes {
    struct source *source;
    struct budget *budget;
    size_t at, end;
    uint64_t pos; // of block[0]
    char *text;   // the last one taken
    size_t text_cap;
    unsigned char block[PICKLE_BLOCK];
};

static inline uint64_t pickle_bytes_pos(const struct pickle_bytes *bytes)
{
    return bytes->pos + bytes->at;
}

// Each fails with ERR_FORMAT if the stream ends before.
MUST_CHECK bool pickle_take_byte(struct pickle_bytes *bytes, unsigned char *byte, struct err *err);
// Up to 8 bytes, the lowest first.
MUST_CHECK bool pickle_take_number(struct pickle_bytes *bytes, unsigned count, uint64_t *number,
                                   struct err *err);
MUST_CHECK bool pickle_skip(struct pickle_bytes *bytes, uint64_t count, struct err *err);
// Lives until the next one. Memory grows with the bytes that come, whatever number of them the file
// claims; ERR_LIMIT past PICKLE_MAX_TEXT.
MUST_CHECK bool pickle_take_text(struct pickle_bytes *bytes, uint64_t count, struct str *text,
                                 struct err *err);
void pickle_bytes_free(struct pickle_bytes *bytes);

#endif
