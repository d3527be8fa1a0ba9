// SPDX-License-Identifier: Apache-2.0
// Reads stored files again and compares their hashes: disks decay.
#ifndef SERVER_SCRUB_H
#define SERVER_SCRUB_H

#include "server/files/blob_store.h"
#include "server/store/store_care.h"

// How fast it may go (0: no limit), and whether it must stop. NULL wait: neither. past_cache: reads
// what is stored, not a copy in a cache.
struct scrub_pace {
    bool (*wait)(void *context, int64_t ns); // false: stop
    void *context;
    uint64_t bytes_per_s;
    bool past_cache;
};

// Reads a blob's file. damage says what is wrong with it, "" for nothing. Fails with ERR_CANCELLED
// if it was stopped, or if memory or descriptors run out.
MUST_CHECK bool scrub_file(struct blob_store *files, const struct store_blob *blob,
                           const struct scrub_pace *pace, char damage[STORE_DAMAGE_SIZE],
                           struct err *err);

#endif
