// SPDX-License-Identifier: Apache-2.0
// A stream of bytes. Sources stack: a file below a decompressor below a reader that runs ahead.
#ifndef INGEST_SOURCE_H
#define INGEST_SOURCE_H

#include "ingest/base/cores.h"
#include "ingest/base/err.h"
#include "ingest/base/secret_tally.h"
#include "ingest/base/str.h"
#include "ingest/base/scratch.h"

#include <stddef.h>

struct source;

// A range of bytes in a source, and where to put them.
struct source_place {
    uint64_t offset;
    void *bytes;
    size_t cap;
};

struct source_ops {
    // Fills up to cap bytes; *got 0 means the end. May return less than cap at any time.
    bool (*read)(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err);
    void (*close)(struct source *source);
    // Compressed bytes taken from the file so far, for progress.
    uint64_t (*consumed)(const struct source *source);
    // Both or neither. The size in bytes; false if unknown.
    bool (*size)(const struct source *source, uint64_t *size);
    // Reads at a position, without affecting read.
    bool (*read_at)(struct source *source, const struct source_place *place, size_t *got,
                    struct err *err);
    // May decompress on free cores from now on; NULL: it has nothing to spread.
    void (*spread)(struct source *source, struct cores *cores);
    // What ended early, if it is a copy of a stream that did; NULL: nothing can have.
    const struct err *(*damage)(const struct source *source);
};

// The first member of every kind of source.
struct source {
    const struct source_ops *ops;
};

MUST_CHECK bool source_read(struct source *source, void *bytes, size_t cap, size_t *got,
                            struct err *err);
// Reads until cap bytes or the end.
MUST_CHECK bool source_fill(struct source *source, void *bytes, size_t cap, size_t *got,
                            struct err *err);
uint64_t source_consumed(const struct source *source);
// The size of a source that can be read at any position (a file, bytes in memory); false for
// others, such as a pipe or decompressed bytes.
bool source_size(const struct source *source, uint64_t *size);
// Reads up to place->cap bytes at place->offset, without affecting source_read. Only if source_size
// is true; *got is less than cap only at the end.
MUST_CHECK bool source_read_at(struct source *source, const struct source_place *place, size_t *got,
                               struct err *err);
// Why a source that can be read at any position lacks bytes: it was unpacked from a stream that is
// cut or damaged, perhaps only in the checksum at its end. NULL: it is whole.
const struct err *source_damage(const struct source *source);
// Lets a decompressor take some free cores until it is closed, if what it reads consists of pieces
// that stand alone: several zstd frames, or blocks of bgzip. cores may be NULL.
void source_spread(struct source *source, struct cores *cores);
void source_close(struct source *source); // closes what lies below, too; NULL is allowed

// A descriptor for reading a file of any kind but a folder; the caller closes it. ERR_NOT_FOUND.
MUST_CHECK bool source_open_path(const char *path, int *fd, struct err *err);
// Bytes of a descriptor from its current position; it remains the caller's. What a file grows by
// afterwards is not read.
MUST_CHECK struct source *source_fd_open(int fd, struct err *err);
// The same; the descriptor is closed with the source, or after a failure.
MUST_CHECK struct source *source_fd_take(int fd, struct err *err);
// Bytes of a file. The descriptor is closed with the source.
MUST_CHECK struct source *source_file_open(const char *path, struct err *err);
// Bytes in memory, at most `step` per read (0: all); the bytes stay the caller's.
MUST_CHECK struct source *source_mem_open(const void *bytes, size_t size, size_t step,
                                          struct err *err);
// Decompressors take over `below`, also on failure. Concatenated members and frames are one stream.
// A cut or damaged stream yields what came before it, then fails with ERR_FORMAT.
MUST_CHECK struct source *source_gzip_open(struct source *below, struct err *err);
MUST_CHECK struct source *source_zstd_open(struct source *below, struct err *err);
enum source_coding { SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD };
// By the first bytes.
enum source_coding source_coding_of(struct str head);
// The bytes of `below` in a form that a decompressor reads, without compressing them; not plain.
MUST_CHECK struct source *source_stored_open(struct source *below, enum source_coding coding,
                                             struct err *err);
// The same bytes, readable at any position: `below` itself if it is, else a copy that is written to
// the scratch file at once. ERR_UNSUPPORTED without a scratch file.
MUST_CHECK struct source *source_seekable_open(struct source *below, struct scratch scratch,
                                               struct err *err);
// `below`, which stays open when this is closed and must outlive it. Only for reading at positions.
MUST_CHECK struct source *source_lend(struct source *below, struct err *err);
// All bytes of one that can be read at positions, from the first to the last; it stays open when
// this is closed and must outlive it. What it lacks (source_damage) is the error at the end.
MUST_CHECK struct source *source_stream_open(struct source *below, struct err *err);
// Reads `below` ahead: the first block at once, all others on a separate thread if there are any.
// The thread takes a core until it ends, if one is free. Counts the secrets in what is read; the
// tally is complete once the source is closed.
MUST_CHECK struct source *source_ahead_open(struct source *below, struct cores *cores,
                                            struct secret_tally *tally, struct err *err);

// Looks at up to cap bytes of `below`, which the reader will still get; *head lives as long as the
// source. A stream that fails after some bytes fails again when the reader gets there.
MUST_CHECK struct source *source_peek_open(struct source *below, size_t cap, struct str *head,
                                           struct err *err);

// Limits on a stream: total decompressed bytes, and their ratio to compressed ones after 64 MiB.
struct source_limits {
    uint64_t max_bytes;
    uint64_t max_ratio;
};
// A trace compresses 10 to 40 times; anything far beyond that is an attack.
extern const struct source_limits source_trace_limits;
MUST_CHECK struct source *source_limit_open(struct source *below, struct source_limits limits,
                                            struct err *err);

#endif
