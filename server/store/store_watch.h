// SPDX-License-Identifier: Apache-2.0
// What the service tells of its queue while it runs.
#ifndef SERVER_STORE_WATCH_H
#define SERVER_STORE_WATCH_H

#include "server/store/store.h"

struct queue_state {
    uint64_t queued, running; // jobs
    int64_t oldest_ns;        // when the job that waits longest came, since 1970; 0 none waits
};

MUST_CHECK bool store_queue_state(struct store *store, struct queue_state *state, struct err *err);

// For how long the oldest job has waited, in seconds.
double store_queue_age_s(const struct queue_state *state);

// Writes a row and removes it, in one durable transaction. ERR_SPACE, ERR_IO, ERR_BUSY.
MUST_CHECK bool store_probe(struct store *store, struct err *err);

#endif
