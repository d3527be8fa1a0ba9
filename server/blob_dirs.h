// SPDX-License-Identifier: Apache-2.0
// What blob.c and blob_spool.c share: open folders of the data directory.
#ifndef SERVER_BLOB_DIRS_H
#define SERVER_BLOB_DIRS_H

#include "server/blob.h"

#include <pthread.h>

struct blobs {
    char root[BLOB_PATH_SIZE / 2];
    int lock_fd; // of the file that says the folder is ours
    int spool_fd, blobs_fd, traces_fd;
    pthread_rwlock_t pins;
};

// Opens folder "ab" for a name beginning with "ab", making it when needed; -1 on failure.
int blob_open_shard(int dir_fd, const char *name, struct err *err);

#endif
