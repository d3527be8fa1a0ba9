// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_memory.h"

#include "ingest/trace/event_record.h"

#include <stdlib.h>

void rocm_memory_free(struct rocm_memory *memory)
{
    if (memory->budget)
        budget_free(memory->budget, memory->at, memory->cap * sizeof *memory->at);
    *memory = (struct rocm_memory){0};
}

// As rocpd and the other outputs write it, of memory with addresses and of handles to memory that
// is mapped later (hipMemCreate).
static bool is_operation(struct str text, const char *const words[3])
{
    for (int i = 0; i < 3; i++)
        if (str_equal(text, str_of(words[i])))
            return true;
    return false;
}

bool rocm_memory_add(struct rocm_memory *memory, struct str operation,
                     const struct rocm_block *block, struct err *err)
{
    static const char *const taking[3] = {"ALLOC", "MEMORY_ALLOCATION_ALLOCATE",
                                          "MEMORY_ALLOCATION_VMEM_ALLOCATE"};
    static const char *const giving[3] = {"FREE", "MEMORY_ALLOCATION_FREE",
                                          "MEMORY_ALLOCATION_VMEM_FREE"};
    bool takes = is_operation(operation, taking), gives = is_operation(operation, giving);
    if ((!takes && !gives) || block->address == VALUE_ABSENT || block->time_ns < 0 ||
        (takes && block->bytes <= 0))
        return true;
    struct rocm_block *at =
        budget_room(memory->budget, memory->at, &memory->cap, memory->count + 1, sizeof *at, err);
    if (!at)
        return false;
    memory->at = at;
    at[memory->count] = *block;
    at[memory->count++].bytes = takes ? block->bytes : 0;
    return true;
}

static int by_address(const void *left, const void *right)
{
    const struct rocm_block *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static bool add_block(struct trace_builder *builder, const struct rocm_block *block,
                      struct err *err)
{
    enum { GPU = 1 }; // as PyTorch calls them on ROCm, too
    struct event_record record = event_record_of(EVENT_ALLOCATION);
    if (block->device < 0 || block->device > INT32_MAX ||
        !event_record_times(builder, &record, block->time_ns, block->time_ns, ERR_NO_POS))
        return true;
    record.memory.address = block->address;
    record.memory.bytes = block->bytes;
    record.memory.device_type = GPU;
    record.memory.device = (int32_t)block->device;
    return trace_builder_text(builder, STR("[memory]"), ERR_NO_POS, &record.name, err) &&
           trace_builder_add(builder, &record, err);
}

bool rocm_memory_end(struct rocm_memory *memory, struct trace_builder *builder, struct err *err)
{
    const struct rocm_block *taken = NULL;
    size_t count = memory->count;
    if (count)
        qsort(memory->at, count, sizeof *memory->at, by_address);
    memory->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct rocm_block block = memory->at[i];
        bool gives = block.bytes == 0;
        if (gives && (!taken || taken->address != block.address))
            continue;
        block.bytes = gives ? -taken->bytes : block.bytes;
        block.device = gives ? taken->device : block.device;
        taken = gives ? NULL : &memory->at[i];
        if (!add_block(builder, &block, err))
            return false;
    }
    return true;
}

int64_t rocm_address(struct str text)
{
    char digits[17] = "";
    int64_t address;
    if (str_to_i64(text, &address))
        return address;
    if (text.len < 3 || text.len - 2 >= sizeof digits || !str_starts_with(text, STR("0x")))
        return VALUE_ABSENT;
    memcpy(digits, text.at + 2, text.len - 2);
    bool good = strspn(digits, "0123456789abcdefABCDEF") == text.len - 2;
    return good ? (int64_t)strtoull(digits, NULL, 16) : VALUE_ABSENT;
}
