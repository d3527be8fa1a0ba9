// SPDX-License-Identifier: Apache-2.0
// Any bytes as messages between a service and the process of a trace job: accepted or refused, and
// what was accepted can be sent again.
#include "server/jobs/job_wire.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_reply(struct str bytes)
{
    struct job_reply reply = {0};
    struct buf again = {0};
    struct err err = {0};
    if (job_wire_take_reply(bytes, &reply, &err))
        job_wire_put_reply(&reply, &again);
    else if (err.code == ERR_NONE)
        abort();
    buf_free(&again);
}

static void fuzz_order(struct str bytes, struct budget *budget)
{
    struct arena arena;
    arena_init(&arena, budget);
    struct job_order order = {0};
    struct buf again = {0};
    struct err err = {0};
    if (job_wire_take_order(bytes, &arena, &order, &err))
        job_wire_put_order(&order, &again);
    else if (err.code == ERR_NONE)
        abort();
    buf_free(&again);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = (uint64_t)64 << 20};
    if (size == 0)
        return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    if (data[0] % 4)
        fuzz_reply(bytes);
    else
        fuzz_order(bytes, &budget);
    if (budget.used)
        abort();
    return 0;
}
