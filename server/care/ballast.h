// SPDX-License-Identifier: Apache-2.0
// A file that only takes up space: released when the disk is full, so that the database can write
// the deletions that free more.
#ifndef SERVER_BALLAST_H
#define SERVER_BALLAST_H

#include "ingest/base/err.h"

#include <stdatomic.h>

struct ballast {
    char path[4096];
    uint64_t bytes; // 0: none
    atomic_bool is_there;
};

// Checks whether an earlier process left it in the folder.
void ballast_init(struct ballast *ballast, const char *folder, uint64_t bytes);

// Releases the space. Takes a struct ballast, as a hook; thread-safe.
void ballast_drop(void *ballast);

// Creates it if it is missing, leaving as much again free, even below the space that uploads must
// leave: the next full disk needs it as much as the last one did. Called by one thread only.
MUST_CHECK bool ballast_make(struct ballast *ballast, uint64_t free_bytes, struct err *err);

#endif
