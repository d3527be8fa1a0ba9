// SPDX-License-Identifier: Apache-2.0
// A page of memory that processes share by passing its descriptor.
#ifndef SERVER_SHARED_PAGE_H
#define SERVER_SHARED_PAGE_H

#include "ingest/base/cores.h"
#include "ingest/source/format.h"

#define SHARED_PAGE_BYTES ((size_t)4096)

// Of all jobs.
struct cores_page {
    atomic_int free;
};

// Of one job.
struct job_page {
    struct progress progress; // a process that does not do the work uses only done_bytes
    atomic_int held;          // cores
};

// Allocates zeroed memory and maps it; the descriptor is closed at exec unless it is passed on.
// NULL on failure. Pair with shared_page_close.
MUST_CHECK void *shared_page_new(int *fd, struct err *err);
void shared_page_close(void *page, int fd); // NULL and -1 are allowed

// Maps memory from an inherited descriptor. NULL on failure.
MUST_CHECK void *shared_page_map(int fd, struct err *err);

#endif
