// SPDX-License-Identifier: Apache-2.0
// The files of a service: written through spool/<id>.part in the data folder, then stored where
// blob_store.h says, uploads by content and the traces made from them. Thread-safe.
#ifndef SERVER_BLOB_H
#define SERVER_BLOB_H

#include "server/files/blob_store.h"

#include <stddef.h>

struct blobs;
struct source;
struct spool;

#define BLOB_SHA256_SIZE 65   // lower-case hex and its NUL
#define BLOB_PATH_SIZE   4096 // of a path

#define BLOB_REMOVALS_LOCK "removals.lock" // in the data folder: held while files are removed

// Opens the folders below data_dir, creating missing ones (0700). ERR_BUSY if another process has
// them open.
MUST_CHECK struct blobs *blob_open(const char *data_dir, struct err *err);
// Same, with stored files at another place (blob_store.h) and data_dir/cache as its cache; NULL: in
// data_dir.
MUST_CHECK struct blobs *blob_open_at(const char *data_dir, const char *place, struct err *err);
void blob_close(struct blobs *blobs); // NULL is allowed

// Where flush failures are recorded, shared with the database.
struct disk_fault *blob_fault(struct blobs *blobs);

// ERR_BUSY after a flush failure: uploads are refused before their bodies.
MUST_CHECK bool blob_check_writable(const struct blobs *blobs, struct err *err);

// --- writing one file ---------------------------------------------------------------------------

// Starts a file. ERR_SPACE if the disk has no room for expected_bytes (0: unknown); space is
// reserved as bytes arrive.
MUST_CHECK struct spool *blob_spool_open(struct blobs *blobs, uint64_t expected_bytes,
                                         struct err *err);

// Same if only the hash is wanted: the bytes are not stored and cannot be kept.
MUST_CHECK struct spool *blob_spool_open_unkept(struct blobs *blobs, struct err *err);

// Appends bytes. After a failure only blob_spool_close may follow.
MUST_CHECK bool blob_spool_write(struct spool *spool, const void *bytes, size_t size,
                                 struct err *err);

// Ends the content: its hash is known, the bytes are durable, but it has no name yet.
MUST_CHECK bool blob_spool_seal(struct spool *spool, struct err *err);

// The bytes of a sealed file that is kept. The spool outlives the source.
MUST_CHECK struct source *blob_spool_read(const struct spool *spool, struct err *err);

uint64_t blob_spool_bytes(const struct spool *spool);
const char *blob_spool_sha256(const struct spool *spool); // after the seal

// Gives a sealed file its name and makes that durable. An existing file of that name is replaced:
// its bytes were the same, unless the disk has damaged them since. Call between blob_pin and
// blob_unpin; a row must refer to the file before blob_unpin.
MUST_CHECK bool blob_spool_keep(struct spool *spool, struct err *err);

// Looks whether a kept file is still there, and keeps it again if not: it may have been removed
// before its row was committed, as nothing waits for pins if it is far away.
MUST_CHECK bool blob_spool_keep_again(struct spool *spool, struct err *err);

// Frees the spool and removes its file if it was not kept. NULL is allowed.
void blob_spool_close(struct spool *spool);

// --- reading and removing -----------------------------------------------------------------------

// The data folder, absolute.
const char *blob_root(const struct blobs *blobs);

// Where the files are stored.
struct blob_store *blob_stored(const struct blobs *blobs);

// Whether that is another machine: storing a file may take minutes, and removing one may take
// effect after it was given up.
bool blob_is_far(const struct blobs *blobs);

// As blob_store_read.
MUST_CHECK bool blob_open_read(const struct blobs *blobs, const char *sha256, int *fd,
                               uint64_t *size_bytes, struct err *err);
MUST_CHECK bool blob_open_trace(const struct blobs *blobs, const char *trace_id, int *fd,
                                uint64_t *size_bytes, struct err *err);

// While pinned (shared by many threads) no blob is removed, unless it is far away; blob_remove
// waits.
void blob_pin(struct blobs *blobs);
void blob_unpin(struct blobs *blobs);

// Exclusive access to the blobs: no pin is held. Use it to check whether a row refers to a file,
// and remove it if not.
void blob_exclude(struct blobs *blobs);
void blob_include(struct blobs *blobs);

// False during a backup: nothing that its copy of the database refers to may be removed. Otherwise
// one thread at a time may remove, until blob_end_removals.
MUST_CHECK bool blob_begin_removals(struct blobs *blobs);
void blob_end_removals(struct blobs *blobs);

// As blob_store_remove_as_of.
MUST_CHECK bool blob_remove(struct blobs *blobs, const char *sha256, int64_t asked_s,
                            struct err *err);
// A missing file is not an error.
MUST_CHECK bool blob_remove_trace(struct blobs *blobs, const char *trace_id, struct err *err);

// Removes every .part file of the spool, and what else does not take looking through the stored
// files; at startup, before anything writes.
MUST_CHECK bool blob_sweep_spool(struct blobs *blobs, unsigned *removed, struct err *err);

// An empty unnamed file for reading and writing; -1 on failure, with ERR_BUSY if descriptors or
// memory run out. The caller closes it.
MUST_CHECK int blob_scratch(const struct blobs *blobs, struct err *err);

// A file for a job to write a trace into; blob_keep_trace stores it, blob_part_close closes it and
// removes it if it was not stored. fd is -1 on failure.
MUST_CHECK bool blob_part_open(const struct blobs *blobs, struct blob_part *part, struct err *err);
MUST_CHECK bool blob_keep_trace(const struct blobs *blobs, const char *trace_id,
                                const struct blob_part *part, struct err *err);
void blob_part_close(const struct blob_part *part);

// Writes, syncs and removes a small file in each folder, and tries where files are stored. One
// thread at a time. ERR_SPACE, ERR_IO.
MUST_CHECK bool blob_probe(struct blobs *blobs, struct err *err);

// Bytes that may still be written to the filesystem.
MUST_CHECK bool blob_free_bytes(const struct blobs *blobs, uint64_t *bytes, struct err *err);

// How many files the filesystem has, and how many can still be created; zeros if it does not report
// this.
void blob_files_left(const struct blobs *blobs, uint64_t *files, uint64_t *free_files);

#endif
