// SPDX-License-Identifier: Apache-2.0
// Room on a disk for bytes that have to be read at any position.
#ifndef INGEST_BASE_SCRATCH_H
#define INGEST_BASE_SCRATCH_H

#include <stdint.h>

// A file to write to from a position on. The caller's; nothing in it is kept.
struct scratch {
    int fd; // -1: there is none
    uint64_t from;
};

// A file without a name in the folder for temporary files; none if there is no room for one.
struct scratch scratch_open(void);
void scratch_close(struct scratch scratch);

#define SCRATCH_NONE ((struct scratch){.fd = -1})

#endif
