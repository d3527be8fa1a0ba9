// SPDX-License-Identifier: Apache-2.0
// The device's allocator: live memory, reserved memory, and what the peak consisted of.
#pragma once

#include "tests/tracegen/program.h"

#include <stddef.h>
#include <stdint.h>

struct heap_tensor {
    int64_t bytes; // 0: not live
    uint64_t address;
    const char *op; // the operator that allocated it, NULL outside operators
};

struct heap {
    struct heap_tensor *tensors; // per slot of the program
    struct heap_tensor *at_peak; // same at the peak
    size_t count;
    int64_t allocated_bytes, reserved_bytes, lost_bytes, base_bytes;
    int64_t spare_bytes; // held beyond what was ever needed
    const char *losing_op;
    int64_t peak_bytes, reserved_at_peak_bytes, peak_ns, peak_lost_bytes, events;
    const char *peak_op;
    uint64_t next_address;
};

void heap_init(struct heap *heap, const struct program *program);
void heap_free(struct heap *heap);

// slot -1 is never released. Returns the tensor's address.
uint64_t heap_allocate(struct heap *heap, int32_t slot, const struct heap_tensor *tensor,
                       int64_t now_ns);
// Returns the tensor that was there.
struct heap_tensor heap_release(struct heap *heap, int32_t slot);
