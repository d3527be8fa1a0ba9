// SPDX-License-Identifier: Apache-2.0
// A file that only takes room: given back when the disk is full, so that the database can write the
// deletions that make more.
#ifndef SERVER_BALLAST_H
#define SERVER_BALLAST_H

#include "ingest/base/err.h"

#include <stdatomic.h>

struct ballast {
    char path[4096];
    uint64_t bytes; // 0: none is kept
    atomic_bool is_there;
};

// Looks whether an earlier process left it in the folder.
void ballast_init(struct ballast *ballast, const char *folder, uint64_t bytes);

// Gives the room back. Takes a struct ballast, as a hook; from any thread.
void ballast_drop(void *ballast);

// Makes it when it is not there and leaves as much again free, also below the space that uploads
// leave: the next full disk needs it as much as the last one did. Only one thread calls this.
MUST_CHECK bool ballast_make(struct ballast *ballast, uint64_t free_bytes, struct err *err);

#endif
