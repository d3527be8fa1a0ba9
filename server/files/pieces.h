// SPDX-License-Identifier: Apache-2.0
// The file of an upload that comes in pieces: pieces/<id>.part in the data folder, which lives
// across connections and restarts. Beside it <id>.sums holds a checksum of every block that came
// since the file was flushed last, so that after a crash or a power cut exactly those bytes count
// that are there as they were sent. One request at a time has a file; the kernel's lock on it ends
// with the process.
#ifndef SERVER_PIECES_H
#define SERVER_PIECES_H

#include "server/files/blob.h"

struct pieces;

#define PIECES_BLOCK_BYTES ((size_t)256 << 10) // at most, of one write

// Makes the file; its name is durable. Nothing is reserved: who sends no bytes shall hold none.
MUST_CHECK bool pieces_create(struct blobs *blobs, const char *id, struct err *err);

// Takes the file of so many bytes when complete; pieces_find_end comes next. ERR_BUSY while another
// request has it, ERR_NOT_FOUND when it is gone.
MUST_CHECK struct pieces *pieces_open(struct blobs *blobs, const char *id, uint64_t bytes,
                                      struct err *err);

// Sets the offset to the end of what counts, of which so many bytes are on disk for good, and cuts
// off the rest. What is flushed must be looked up after pieces_open: before, another request may
// have had the file.
MUST_CHECK bool pieces_find_end(struct pieces *pieces, uint64_t flushed, struct err *err);

void pieces_close(struct pieces *pieces); // NULL is allowed

// Bytes that are there.
uint64_t pieces_offset(const struct pieces *pieces);

// Appends a block. Disk is reserved for about as much again as came since pieces_open (ERR_SPACE);
// what did not come is given back by pieces_close. checked: the bytes count even when the process
// ends before pieces_flush. After a failure the file is as before the call.
MUST_CHECK bool pieces_write(struct pieces *pieces, const void *bytes, size_t size, bool checked,
                             struct err *err);

// All bytes that are there are on disk for good. After a failure nothing may be said of them.
MUST_CHECK bool pieces_flush(struct pieces *pieces, struct err *err);

// Forgets the bytes behind offset.
MUST_CHECK bool pieces_rewind(struct pieces *pieces, uint64_t offset, struct err *err);

// The first bytes, up to cap; *got how many there were.
MUST_CHECK bool pieces_read_head(const struct pieces *pieces, char *bytes, size_t cap, size_t *got,
                                 struct err *err);

// The complete file as a sealed spool: it is read again for its hash. blob_spool_keep gives it a
// second name, so that a failure afterwards loses nothing; pieces_remove takes the first.
MUST_CHECK struct spool *pieces_seal(const struct pieces *pieces, struct err *err);

// Missing files are no error.
MUST_CHECK bool pieces_remove(struct blobs *blobs, const char *id, struct err *err);

// Calls visit with the id of each file.
struct pieces_visitor {
    bool (*visit)(void *ctx, const char *id, struct err *err);
    void *ctx;
};
MUST_CHECK bool pieces_each(const struct blobs *blobs, const struct pieces_visitor *visitor,
                            struct err *err);

#endif
