// SPDX-License-Identifier: Apache-2.0
// Shared by the pieces*.c files.
#ifndef SERVER_FILES_PIECES_FILE_H
#define SERVER_FILES_PIECES_FILE_H

#include "server/files/blob_dirs.h"
#include "server/files/pieces.h"

#define PIECES_PART ".part"
#define PIECES_SUMS ".sums"
#define PIECES_HAVE ".have" // how many leading bytes are those that all services share
enum { PIECES_NAME_SIZE = 32 };

struct pieces {
    struct blobs *blobs;
    int fd, sums_fd;
    uint64_t bytes; // when complete
    uint64_t offset;
    uint64_t shared; // leading bytes that other services can have, and that are here
    uint64_t sums;   // number in the file of checksums
    uint64_t begun;  // writeback started, see flush_behind
    uint64_t opened_at;
    uint64_t reserved; // disk space is reserved up to here
    bool has_rubbish;  // after offset, and could not be cut off: nothing may follow it
    char id[PIECES_NAME_SIZE], name[PIECES_NAME_SIZE];
};

MUST_CHECK bool pieces_name(const char *id, const char *suffix, char name[PIECES_NAME_SIZE],
                            struct err *err);

// Fetches what other services received, as far as the rows say it was flushed.
MUST_CHECK bool pieces_bring(struct pieces *pieces, uint64_t flushed, struct err *err);
MUST_CHECK bool pieces_remove_shared(struct blobs *blobs, const char *id, struct err *err);

#endif
