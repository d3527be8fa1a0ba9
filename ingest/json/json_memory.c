// SPDX-License-Identifier: Apache-2.0
// An allocator for Jansson that remembers failed allocations.
#include "ingest/json/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

// lint-allow(mutable-globals): the library's allocator takes no context
static _Thread_local bool lacked_memory;

static void *allocate(size_t size)
{
    void *block = malloc(size);
    lacked_memory = lacked_memory || !block;
    return block;
}

void json_memory_watch(void)
{
    json_set_alloc_funcs(allocate, free);
}

void json_memory_forget(void)
{
    lacked_memory = false;
}

bool json_memory_check(struct err *err)
{
    return !lacked_memory || err_set(err, ERR_MEMORY, "out of memory for JSON");
}
