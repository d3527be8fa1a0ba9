// SPDX-License-Identifier: Apache-2.0
// Counting free cores.
#include "ingest/base/cores.h"

#include <stddef.h>

void cores_init(struct cores *cores, unsigned count)
{
    atomic_init(&cores->free, (int)count);
}

static void add(struct cores *cores, int count)
{
    if (cores)
        atomic_fetch_add_explicit(&cores->free, count, memory_order_relaxed);
}

void cores_hold(struct cores *cores)
{
    add(cores, -1);
}

void cores_release(struct cores *cores)
{
    add(cores, 1);
}

unsigned cores_take(struct cores *cores, unsigned want)
{
    if (!cores)
        return 0;
    int free = atomic_load_explicit(&cores->free, memory_order_relaxed);
    for (;;) {
        unsigned got = free <= 0 ? 0 : (unsigned)free < want ? (unsigned)free : want;
        if (got == 0 ||
            atomic_compare_exchange_weak_explicit(&cores->free, &free, free - (int)got,
                                                  memory_order_relaxed, memory_order_relaxed))
            return got;
    }
}

void cores_give(struct cores *cores, unsigned count)
{
    add(cores, (int)count);
}

bool cores_short(const struct cores *cores)
{
    return cores && atomic_load_explicit(&cores->free, memory_order_relaxed) < 0;
}
