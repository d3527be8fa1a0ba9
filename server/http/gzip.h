// SPDX-License-Identifier: Apache-2.0
// Compresses content as gzip, a piece at a time. ISA-L's fastest level gives JSON tables the size
// of zlib's level 3 in an eighth of its time.
#ifndef SERVER_GZIP_H
#define SERVER_GZIP_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

struct gzip {
    bool (*write)(void *context, const char *at, size_t len); // false ends it
    void *context;
    struct gzip_work *work;
};

// False if out of memory; otherwise gzip_end frees it. `write` and `context` are set before.
MUST_CHECK bool gzip_start(struct gzip *gzip);

MUST_CHECK bool gzip_add(struct gzip *gzip, struct str piece, bool last);

void gzip_end(struct gzip *gzip);

#endif
