// SPDX-License-Identifier: Apache-2.0
// How many cores are free: each job holds one, and any job may borrow the rest.
#ifndef INGEST_BASE_CORES_H
#define INGEST_BASE_CORES_H

#include <stdatomic.h>
#include <stdbool.h>

// Shared by all threads; passing NULL means that no core is ever free.
struct cores {
    atomic_int *free; // below zero: more jobs than cores
    atomic_int *held; // held by this process, besides its jobs' own; NULL: not counted
    atomic_int own;   // what free points to unless it is shared with other processes
};

void cores_init(struct cores *cores, unsigned count);

// Keeps the counts in memory shared between processes: free for all of them, held for this one
// alone, so that a process that outlives it can return what it held.
void cores_share(struct cores *cores, atomic_int *free, atomic_int *held);

// A job starts or ends. It counts even if no core is free, so that helpers make room for it.
void cores_hold(struct cores *cores);
void cores_release(struct cores *cores);

// How many are free at this moment; another thread may take them.
unsigned cores_free(const struct cores *cores);

// Takes up to want free cores and returns how many it got; never waits. Pair with cores_give.
unsigned cores_take(struct cores *cores, unsigned want);
void cores_give(struct cores *cores, unsigned count);

// True while more threads run than there are cores: helpers should stop then.
bool cores_short(const struct cores *cores);

#endif
