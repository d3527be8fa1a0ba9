// SPDX-License-Identifier: Apache-2.0
// The body of a request, read once from front to back. Its end is only reported once every
// announced byte has arrived.
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "ingest/base/buf.h"

#include <stddef.h>

#define BODY_UNKNOWN UINT64_MAX // length of a chunked body

struct body {
    // The source of bytes: fills up to cap, *got 0 is the end of a chunked body. Fails with
    // ERR_CANCELLED if the client went away or was too slow, ERR_USAGE for malformed chunks.
    bool (*pull)(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err);
    // Tells a client that waits for it to start sending; NULL if it does not wait.
    bool (*proceed)(void *ctx, struct err *err);
    void *ctx;
    // Called with what has arrived, and may refuse more; NULL: not counted.
    bool (*count)(void *ctx, struct err *err);
    void *count_ctx;
    uint64_t length;   // announced, or BODY_UNKNOWN
    uint64_t limit;    // more bytes are ERR_LIMIT; set by body_limit
    uint64_t received; // so far
    bool begun, ended; // ended: everything has arrived
};

// Refuses a body that is announced as, or turns out to be, longer. Call it before reading.
MUST_CHECK bool body_limit(struct body *body, uint64_t limit, struct err *err);

// Up to cap bytes; *got 0 means that the body is complete.
MUST_CHECK bool body_read(struct body *body, void *bytes, size_t cap, size_t *got, struct err *err);

// All of a small body, appended to out.
MUST_CHECK bool body_read_all(struct body *body, uint64_t limit, struct buf *out, struct err *err);

#endif
