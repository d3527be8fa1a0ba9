// SPDX-License-Identifier: Apache-2.0
// Settings of the C library's allocator.
#include "server/base/job_heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Of some 3 million events. A larger heap goes on in small pages.
#define HUGE_BYTES ((size_t)512 << 20)

enum {
    KEEP_ALL = -1,
    NO_MAPPINGS = 0,
    SOME_MAPPINGS = 65536, // as by default
    // Larger blocks are few, and growing one that is mapped copies nothing.
    MAPPED_BYTES = 64 << 20,
};

// Takes the bytes into the heap without touching them; freed, they are where the next blocks come
// from.
static void reserve_huge(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *bytes = malloc(HUGE_BYTES);
    if (bytes) // best effort
        (void)madvise(bytes + (page - (uintptr_t)bytes % page), HUGE_BYTES - page, MADV_HUGEPAGE);
    free(bytes);
}

void job_heap_begin(void)
{
    if (mallopt(M_ARENA_MAX, 1) != 1)
        return;
    mallopt(M_TRIM_THRESHOLD, KEEP_ALL);
    mallopt(M_MMAP_MAX, NO_MAPPINGS);
    reserve_huge();
    mallopt(M_MMAP_MAX, SOME_MAPPINGS);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
}
