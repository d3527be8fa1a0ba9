// SPDX-License-Identifier: Apache-2.0
// Counts bytes. Reserved memory grows by whole segments and never shrinks.
#include "tests/tracegen/heap.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_BYTES = 20 << 20, ALIGNMENT = 512 };

#define FIRST_ADDRESS UINT64_C(0x7f0e00000000)

void heap_init(struct heap *heap, const struct program *program)
{
    size_t count = (size_t)program->tensors;
    heap->count = count;
    heap->tensors = outfile_memory(count + 1, sizeof *heap->tensors);
    heap->at_peak = outfile_memory(count + 1, sizeof *heap->at_peak);
    heap->base_bytes = heap->allocated_bytes = program->base_bytes;
    heap->spare_bytes = program->spare_bytes;
    heap->next_address = FIRST_ADDRESS;
}

void heap_free(struct heap *heap)
{
    free(heap->tensors);
    free(heap->at_peak);
}

static void note_peak(struct heap *heap, const char *op, int64_t now_ns)
{
    heap->peak_bytes = heap->allocated_bytes;
    heap->reserved_at_peak_bytes = heap->reserved_bytes;
    heap->peak_ns = now_ns;
    heap->peak_op = op;
    heap->peak_lost_bytes = heap->lost_bytes;
    memcpy(heap->at_peak, heap->tensors, heap->count * sizeof *heap->tensors);
}

uint64_t heap_allocate(struct heap *heap, int32_t slot, const struct heap_tensor *tensor,
                       int64_t now_ns)
{
    uint64_t address = heap->next_address;
    heap->next_address += ((uint64_t)tensor->bytes / ALIGNMENT + 1) * ALIGNMENT;
    heap->allocated_bytes += tensor->bytes;
    heap->events++;
    if (slot < 0) {
        heap->lost_bytes += tensor->bytes;
        heap->losing_op = tensor->op;
    } else {
        heap->tensors[slot] = *tensor;
        heap->tensors[slot].address = address;
    }
    int64_t segments =
        (heap->allocated_bytes + heap->spare_bytes + SEGMENT_BYTES - 1) / SEGMENT_BYTES;
    if (segments * SEGMENT_BYTES > heap->reserved_bytes)
        heap->reserved_bytes = segments * SEGMENT_BYTES;
    if (heap->allocated_bytes > heap->peak_bytes)
        note_peak(heap, tensor->op, now_ns);
    return address;
}

struct heap_tensor heap_release(struct heap *heap, int32_t slot)
{
    struct heap_tensor tensor = heap->tensors[slot];
    heap->tensors[slot].bytes = 0;
    heap->allocated_bytes -= tensor.bytes;
    heap->events++;
    return tensor;
}
