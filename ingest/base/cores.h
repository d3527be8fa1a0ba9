// SPDX-License-Identifier: Apache-2.0
// How many cores nobody uses: jobs hold one each, and what is left may help any of them.
#ifndef INGEST_BASE_CORES_H
#define INGEST_BASE_CORES_H

#include <stdatomic.h>
#include <stdbool.h>

// Shared by all threads; NULL wherever it is asked for means that none is free.
struct cores {
    atomic_int *free; // below zero: more jobs run than there are cores
    atomic_int *held; // by this process, beside the job's own; NULL: nobody asks
    atomic_int own;   // what free points to while no other process shares it
};

void cores_init(struct cores *cores, unsigned count);

// Counts in memory that processes share: free of all of them; held of this one alone, so that
// whoever outlives it can give back what it had.
void cores_share(struct cores *cores, atomic_int *free, atomic_int *held);

// A job begins or ends: it counts even when no core is free, so that helpers make room for it.
void cores_hold(struct cores *cores);
void cores_release(struct cores *cores);

// Takes up to want free cores and returns how many it got; never waits. Pair with cores_give.
unsigned cores_take(struct cores *cores, unsigned want);
void cores_give(struct cores *cores, unsigned count);

// True when more threads run than there are cores: who only helps should stop.
bool cores_short(const struct cores *cores);

#endif
