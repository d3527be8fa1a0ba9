// SPDX-License-Identifier: Apache-2.0
// The state of queue and disk, for operators of the service.
#ifndef SERVER_STORE_WATCH_H
#define SERVER_STORE_WATCH_H

#include "server/store/store.h"

struct queue_state {
    uint64_t queued, running; // jobs
    int64_t oldest_ns;        // when the job that waits longest was queued, since 1970; 0: none is
                              // waiting
};

MUST_CHECK bool store_queue_state(struct store *store, struct queue_state *state, struct err *err);

// How long the oldest job has been waiting, in seconds.
double store_queue_age_s(const struct queue_state *state);

// What takes disk space, and who owns it.
#define STORE_OWNERS_MOST 20

struct store_owner {
    char who[96];
    uint64_t bytes; // of stored files, and of the results of their analyses
};

struct store_room {
    struct store_owner owners[STORE_OWNERS_MOST]; // with the most, in that order
    size_t owner_count;
    uint64_t others_bytes;         // of all other owners together
    uint64_t pieces, pieces_bytes; // resumable uploads under way, and their bytes
    uint64_t audit_entries;        // written in total
    uint64_t runs, bin_runs;       // those not in the bin, and those in it
    uint64_t bin_bytes;            // of the files of runs in the bin
    double recent_run_bytes; // mean of the files of the newest STORE_RECENT_RUNS that have any
};

#define STORE_RECENT_RUNS 32

MUST_CHECK bool store_measure_room(struct store *store, struct store_room *room, struct err *err);

// Whether the tables are still those of this program. A newer one may have changed them: then
// nothing is written (ERR_BUSY) until this finds them as they were. ERR_UNSUPPORTED; others: it
// cannot tell.
MUST_CHECK bool store_check_schema(struct store *store, struct err *err);

// Writes a row and removes it, in one durable transaction. ERR_SPACE, ERR_IO, ERR_BUSY.
MUST_CHECK bool store_probe(struct store *store, struct err *err);

#endif
