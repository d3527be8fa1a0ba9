// SPDX-License-Identifier: Apache-2.0
// Temporary disk space for bytes that must be seekable.
#ifndef INGEST_BASE_SCRATCH_H
#define INGEST_BASE_SCRATCH_H

#include <stdint.h>

// A file to write to from an offset. The caller's; its content is discarded.
struct scratch {
    int fd; // -1: there is none
    uint64_t from;
};

// An unnamed file in the folder for temporary files; SCRATCH_NONE if it cannot be created.
struct scratch scratch_open(void);
void scratch_close(struct scratch scratch);

#define SCRATCH_NONE ((struct scratch){.fd = -1})

#endif
