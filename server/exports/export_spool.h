// SPDX-License-Identifier: Apache-2.0
// Exports that are read in ranges, as viewers and resumed downloads do: each is written once to an
// unnamed file and kept while it is in use. Bounded in number, bytes and time.
#ifndef SERVER_EXPORT_SPOOL_H
#define SERVER_EXPORT_SPOOL_H

#include "ingest/base/buf.h"

struct export_spool;

// Files stay together below most_bytes and leave min_free_bytes of the disk. NULL without memory.
struct export_spool *export_spool_open(uint64_t most_bytes, uint64_t min_free_bytes,
                                       struct err *err);
void export_spool_close(struct export_spool *spool); // NULL is allowed

// What is written, piece by piece; a key always stands for the same bytes.
struct spool_source {
    struct str key;
    bool (*next)(void *context, struct buf *out, bool *more, struct err *err);
    bool (*is_wanted)(void *context); // called now and then; NULL: always wanted
    void *context;
};

struct spooled {
    int fd; // at its start, the caller's to close; -1: there is none
    uint64_t bytes;
};

// What has been written of that key. NULL is allowed: nothing.
struct spooled export_spool_find(struct export_spool *spool, struct str key);

// The same, written if it was not. One is written at a time; a few callers wait: ERR_BUSY for all
// others. True with fd -1: it would be too large or take too long, which is remembered for a while.
MUST_CHECK bool export_spool_write(struct export_spool *spool, const struct spool_source *source,
                                   struct spooled *found, struct err *err);

// Frees those that nobody asked for lately. NULL is allowed.
void export_spool_expire(struct export_spool *spool);

#endif
