// SPDX-License-Identifier: Apache-2.0
// The file of an upload that comes in pieces: pieces/<id>.part in the data folder, which outlives
// connections and restarts. Next to it <id>.sums has a checksum of every block received since the
// last flush, so that after a crash or a power cut exactly the bytes count that are there as they
// were sent. One request at a time has a file; the kernel's lock on it ends with the process.
#ifndef SERVER_PIECES_H
#define SERVER_PIECES_H

#include "server/files/blob.h"

struct pieces;

#define PIECES_BLOCK_BYTES  ((size_t)256 << 10)  // most per write
#define PIECES_SHARED_BYTES ((uint64_t)32 << 20) // most per piece that services share

// From now on other services can continue what this one, called `node`, received, if they share the
// place of files: pieces_open creates a missing file, and pieces_find_end fetches what others have.
void pieces_share(struct blobs *blobs, const char *node);

// Creates the file; its name is durable. Nothing is reserved: clients that send no bytes take no
// space.
MUST_CHECK bool pieces_create(struct blobs *blobs, const char *id, struct err *err);

// Opens the file of an upload of this total size; pieces_find_end must follow. ERR_BUSY while
// another request has it, ERR_NOT_FOUND if it is gone.
MUST_CHECK struct pieces *pieces_open(struct blobs *blobs, const char *id, uint64_t bytes,
                                      struct err *err);

// Sets the offset to the end of the valid bytes, of which flushed_bytes are known to be on disk,
// and cuts off the rest. Look up flushed_bytes after pieces_open: before that, another request may
// have had the file.
MUST_CHECK bool pieces_find_end(struct pieces *pieces, uint64_t flushed, struct err *err);

void pieces_close(struct pieces *pieces); // NULL is allowed

// Bytes received.
uint64_t pieces_offset(const struct pieces *pieces);

// Appends a block. Reserves about as much disk space again as has arrived since pieces_open
// (ERR_SPACE); pieces_close releases what was not used. checked: the bytes count even if the
// process ends before pieces_flush. After a failure the file is as before the call.
MUST_CHECK bool pieces_write(struct pieces *pieces, const void *bytes, size_t size, bool checked,
                             struct err *err);

// Makes all received bytes durable. After a failure nothing is known about them.
MUST_CHECK bool pieces_flush(struct pieces *pieces, struct err *err);

// Received bytes that other services cannot have yet; 0 if nothing is shared.
uint64_t pieces_unshared(const struct pieces *pieces);

// Stores them where others find them, after pieces_flush; they count once the row says so.
MUST_CHECK bool pieces_publish(const struct pieces *pieces, struct err *err);
// The row says so.
MUST_CHECK bool pieces_note_published(struct pieces *pieces, struct err *err);

// Drops the bytes after offset.
MUST_CHECK bool pieces_rewind(struct pieces *pieces, uint64_t offset, struct err *err);

// The first bytes, up to cap; *got is their number.
MUST_CHECK bool pieces_read_head(const struct pieces *pieces, char *bytes, size_t cap, size_t *got,
                                 struct err *err);

// The complete file as a sealed spool: it is read again for its hash. blob_spool_keep gives it a
// second name, so that a failure afterwards loses nothing; pieces_remove removes the first.
MUST_CHECK struct spool *pieces_seal(const struct pieces *pieces, struct err *err);

// Missing files are not an error.
MUST_CHECK bool pieces_remove(struct blobs *blobs, const char *id, struct err *err);
// The same of an upload that is open. Without shared pieces, as after a single request, nothing is
// looked for; pieces that a crashed service stored but did not record are swept later.
MUST_CHECK bool pieces_remove_open(const struct pieces *pieces, struct err *err);

// visit is called with the id of each file.
struct pieces_visitor {
    bool (*visit)(void *ctx, const char *id, struct err *err);
    void *ctx;
};
MUST_CHECK bool pieces_each(const struct blobs *blobs, const struct pieces_visitor *visitor,
                            struct err *err);
// The same for each upload of which services share pieces.
MUST_CHECK bool pieces_each_shared(const struct blobs *blobs, const struct pieces_visitor *visitor,
                                   struct err *err);

#endif
