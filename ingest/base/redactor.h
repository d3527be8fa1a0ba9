// SPDX-License-Identifier: Apache-2.0
// Writes a text of any length without its secrets, piece by piece.
#ifndef INGEST_BASE_REDACTOR_H
#define INGEST_BASE_REDACTOR_H

#include "ingest/base/secrets.h"

// A secret of up to that many bytes is found wherever the pieces are cut; a PEM key is shorter.
#define REDACTOR_REACH ((size_t)16 << 10)

// Starts as zeros.
struct redactor {
    struct buf held; // not searched to its end yet
};

// Takes a piece and appends to `out` what is known to be safe.
void redactor_add(struct redactor *redactor, struct str piece, struct buf *out);

// Appends the rest. False with ERR_LIMIT if memory ran out at any time.
MUST_CHECK bool redactor_end(struct redactor *redactor, struct buf *out, struct err *err);

void redactor_free(struct redactor *redactor);

#endif
