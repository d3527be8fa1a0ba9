// SPDX-License-Identifier: Apache-2.0
// Exports of which parts are asked for, as viewers and interrupted downloads do: each is written
// once to a file without a name and kept while it is asked for. Bounded in number, bytes and time.
#ifndef SERVER_EXPORT_SPOOL_H
#define SERVER_EXPORT_SPOOL_H

#include "ingest/base/buf.h"

struct export_spool;

// Files stay together below most_bytes and leave min_free_bytes of the disk. NULL without memory.
struct export_spool *export_spool_open(uint64_t most_bytes, uint64_t min_free_bytes,
                                       struct err *err);
void export_spool_close(struct export_spool *spool); // NULL is allowed

// What is written: piece by piece, the same bytes whenever it is of that key.
struct spool_source {
    struct str key;
    bool (*next)(void *context, struct buf *out, bool *more, struct err *err);
    bool (*is_wanted)(void *context); // asked now and then; NULL: it is
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

// Gives back those that nobody asked for lately. NULL is allowed.
void export_spool_expire(struct export_spool *spool);

#endif
