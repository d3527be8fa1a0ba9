// SPDX-License-Identifier: Apache-2.0
// Cuts off clients that send a body, or take an answer, more slowly than any honest client, so that
// they cannot hold threads and memory forever. The library waits for whole buffers; only the kernel
// sees a trickle.
#ifndef SERVER_PACE_H
#define SERVER_PACE_H

#include "ingest/base/err.h"

#include <netdb.h>

struct pace;

struct pace_config {
    unsigned slots;        // most connections watched; more are not watched
    uint64_t window_ms;    // in each window a body must advance, and the client must take of an
                           // answer,
    uint64_t window_bytes; // this many bytes
};

enum pace_way {
    PACE_BODY,   // the client sends
    PACE_ANSWER, // the client takes
};

// Starts the watching thread. NULL with ERR_INTERNAL.
MUST_CHECK struct pace *pace_start(const struct pace_config *config, struct err *err);
void pace_stop(struct pace *pace); // NULL is allowed

// Watches a connected TCP socket from now on. Returns a slot, negative if none is free; fd -1 is
// allowed and not watched. The socket must stay open until pace_leave.
int pace_enter(struct pace *pace, int fd, enum pace_way way);

// True if the client was cut off: its socket then delivers no more bytes, and accepts none either
// if an answer was watched.
bool pace_was_cut(struct pace *pace, int slot);

void pace_leave(struct pace *pace, int slot);

// The peer of a connected socket of our port; false for anything else.
MUST_CHECK bool pace_peer(int fd, unsigned own_port, char address[NI_MAXHOST], int *port);

#endif
