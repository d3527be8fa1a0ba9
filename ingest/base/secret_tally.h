// SPDX-License-Identifier: Apache-2.0
// Counts the secrets in a stream of any length, piece by piece, without keeping any of them.
#ifndef INGEST_BASE_SECRET_TALLY_H
#define INGEST_BASE_SECRET_TALLY_H

#include "ingest/base/secrets.h"

// Wherever the pieces are cut, at least this many bytes of a secret are seen at once, or all of it.
#define SECRET_REACH ((size_t)512)

struct secret_count {
    uint64_t count;
    uint64_t first_pos; // byte offset of the first one in the stream
};

// Starts zeroed.
struct secret_tally {
    struct secret_count found[SECRET_KINDS];
    uint64_t pos;      // bytes of the stream so far
    uint64_t last_end; // of the last secret counted
    size_t kept;
    char end[2 * SECRET_REACH]; // the last bytes of the stream
};

void secret_tally_add(struct secret_tally *tally, struct str piece);

// After the last piece.
void secret_tally_end(struct secret_tally *tally);

#endif
