// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs that a process takes from the driver, as rocprofv3 --memory-allocation-trace
// records it: what a framework's allocator reserves.
#ifndef INGEST_ROCM_ROCM_MEMORY_H
#define INGEST_ROCM_ROCM_MEMORY_H

#include "ingest/trace/trace_builder.h"

// What is given back has neither bytes nor a device: those are known from when it was taken.
struct rocm_block {
    int64_t address, time_ns, bytes;
    int64_t device; // negative: of no GPU
};

struct rocm_memory {
    struct budget *budget;
    struct rocm_block *at;
    size_t count, cap;
};

void rocm_memory_free(struct rocm_memory *memory);

// operation: "MEMORY_ALLOCATION_ALLOCATE", "FREE". Others, and blocks without an address, time or
// size, are left out.
MUST_CHECK bool rocm_memory_add(struct rocm_memory *memory, struct str operation,
                                const struct rocm_block *block, struct err *err);

// Adds the blocks to a trace as allocations and forgets them. What was taken before the recording
// is left out.
MUST_CHECK bool rocm_memory_end(struct rocm_memory *memory, struct trace_builder *builder,
                                struct err *err);

// "0x00007ffb26354000", or a number. VALUE_ABSENT if it is neither.
int64_t rocm_address(struct str text);

#endif
