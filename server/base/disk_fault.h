// SPDX-License-Identifier: Apache-2.0
// Whether the disk failed to flush what was written. Nobody knows then which pages are lost, and
// another flush would say that all is well: from there on nothing is written until a restart reads
// what is really there. Any function from any thread.
#ifndef SERVER_DISK_FAULT_H
#define SERVER_DISK_FAULT_H

#include "ingest/base/err.h"

#include <stdatomic.h>

struct disk_fault {
    atomic_int state; // 0 none, 1 being told, 2 told
    char what[160];
};

// Notes the first failure and logs it.
void disk_fault_set(struct disk_fault *fault, const char *what);

// ERR_BUSY with the reason once there was a failure: writes are refused with 503.
MUST_CHECK bool disk_fault_check(const struct disk_fault *fault, struct err *err);

// Flushes a file's bytes, or a folder; a failure is noted. ERR_SPACE, ERR_IO.
MUST_CHECK bool disk_fault_flush_file(struct disk_fault *fault, int fd, const char *what,
                                      struct err *err);
MUST_CHECK bool disk_fault_flush_folder(struct disk_fault *fault, int fd, const char *what,
                                        struct err *err);

#endif
