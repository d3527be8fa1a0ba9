// SPDX-License-Identifier: Apache-2.0
// Counting free cores.
#include "ingest/base/cores.h"

#include <stddef.h>

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "processes share these counters");

void cores_init(struct cores *cores, unsigned count)
{
    atomic_init(&cores->own, (int)count);
    cores->free = &cores->own;
    cores->held = NULL;
}

void cores_share(struct cores *cores, atomic_int *free, atomic_int *held)
{
    atomic_init(&cores->own, 0);
    cores->free = free;
    cores->held = held;
}

static void note_held(struct cores *cores, int count)
{
    if (cores->held)
        atomic_fetch_add_explicit(cores->held, count, memory_order_relaxed);
}

static void add(struct cores *cores, int count)
{
    if (!cores)
        return;
    note_held(cores, -count);
    atomic_fetch_add_explicit(cores->free, count, memory_order_relaxed);
}

void cores_hold(struct cores *cores)
{
    add(cores, -1);
}

void cores_release(struct cores *cores)
{
    add(cores, 1);
}

unsigned cores_free(const struct cores *cores)
{
    int free = cores ? atomic_load_explicit(cores->free, memory_order_relaxed) : 0;
    return free > 0 ? (unsigned)free : 0;
}

unsigned cores_take(struct cores *cores, unsigned want)
{
    if (!cores)
        return 0;
    int free = atomic_load_explicit(cores->free, memory_order_relaxed);
    for (;;) {
        unsigned got = free <= 0 ? 0 : (unsigned)free < want ? (unsigned)free : want;
        if (got &&
            !atomic_compare_exchange_weak_explicit(cores->free, &free, free - (int)got,
                                                   memory_order_relaxed, memory_order_relaxed))
            continue;
        note_held(cores, (int)got);
        return got;
    }
}

void cores_give(struct cores *cores, unsigned count)
{
    add(cores, (int)count);
}

bool cores_short(const struct cores *cores)
{
    return cores && atomic_load_explicit(cores->free, memory_order_relaxed) < 0;
}
