// SPDX-License-Identifier: Apache-2.0
// Reads stored files again and compares their hashes: disks forget.
#ifndef SERVER_SCRUB_H
#define SERVER_SCRUB_H

#include "server/store/store_care.h"

// How fast it may go (0: as fast as it can), and whether it must stop. NULL wait: neither.
struct scrub_pace {
    bool (*wait)(void *context, int64_t ns); // false: stop
    void *context;
    uint64_t bytes_per_s;
};

// Reads the file of a blob at path. damage tells what is wrong with it, "" nothing. Fails with
// ERR_CANCELLED when it was stopped, or for lack of memory or descriptors.
MUST_CHECK bool scrub_file(const char *path, const struct store_blob *blob,
                           const struct scrub_pace *pace, char damage[STORE_DAMAGE_SIZE],
                           struct err *err);

#endif
