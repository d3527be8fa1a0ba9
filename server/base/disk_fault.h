// SPDX-License-Identifier: Apache-2.0
// Whether the disk failed to flush what was written. It is then unknown which pages are lost, and
// another flush would report success: nothing is written any more until a restart reads what is
// really there. Thread-safe.
#ifndef SERVER_DISK_FAULT_H
#define SERVER_DISK_FAULT_H

#include "ingest/base/err.h"

#include <stdatomic.h>

struct disk_fault {
    atomic_int state; // 0 none, 1 being reported, 2 reported
    char what[160];
};

// Records the first failure and logs it.
void disk_fault_set(struct disk_fault *fault, const char *what);

// ERR_BUSY with the reason once there was a failure: writes are refused with 503.
MUST_CHECK bool disk_fault_check(const struct disk_fault *fault, struct err *err);

// Flushes a file's bytes, or a folder; a failure is recorded. ERR_SPACE, ERR_IO.
MUST_CHECK bool disk_fault_flush_file(struct disk_fault *fault, int fd, const char *what,
                                      struct err *err);
MUST_CHECK bool disk_fault_flush_folder(struct disk_fault *fault, int fd, struct err *err);

#endif
