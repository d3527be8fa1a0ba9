// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this room: open folders of the data directory.
#ifndef SERVER_BLOB_DIRS_H
#define SERVER_BLOB_DIRS_H

#include "server/base/disk_fault.h"
#include "server/files/blob.h"

#include <pthread.h>

struct blobs {
    char root[BLOB_PATH_SIZE / 2];
    int lock_fd; // of the file that marks the folder as ours
    int spool_fd, pieces_fd;
    struct blob_store *store;
    pthread_rwlock_t pins;
    pthread_mutex_t removing; // held with removals_fd: two of our threads do not count as a backup
    char node[BLOB_PIECE_NAME]; // our name where pieces of uploads are shared, "" they are not
    int removals_fd;            // of the lock shared with backups, -1 between removals
    struct disk_fault fault;
};

// Opens a folder, creating it if needed, and makes its name durable; -1 on failure.
int blob_open_folder(struct disk_fault *fault, int parent_fd, const char *name, struct err *err);

// Writes, flushes and removes a small file.
MUST_CHECK bool blob_probe_folder(struct disk_fault *fault, int dir_fd, const char *what,
                                  struct err *err);

// Up to where to reserve disk space for an incoming file: as much again as has arrived, within
// bounds, and no further than announced.
uint64_t blob_reserve_until(uint64_t end, uint64_t came, uint64_t announced);

// A sealed spool of a complete file in a folder of the data directory: it is read for its hash.
// Keeping it gives the content a second name; the first one stays.
MUST_CHECK struct spool *blob_spool_adopt(struct blobs *blobs, int dir_fd, const char *name,
                                          struct err *err);

#endif
