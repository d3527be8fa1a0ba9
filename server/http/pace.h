// SPDX-License-Identifier: Apache-2.0
// Cuts clients that send a body, or take an answer, more slowly than anybody honest does, so that
// they cannot hold threads and memory for ever. The library waits for whole buffers; only the
// kernel sees a trickle.
#ifndef SERVER_PACE_H
#define SERVER_PACE_H

#include "ingest/base/err.h"

#include <netdb.h>

struct pace;

struct pace_config {
    unsigned slots;        // connections watched at a time; more are not watched
    uint64_t window_ms;    // a body must bring, and of an answer the client must take
    uint64_t window_bytes; // so many bytes in that time
};

enum pace_way {
    PACE_BODY,   // the client sends
    PACE_ANSWER, // the client takes
};

// Starts the watching thread. NULL with ERR_INTERNAL.
MUST_CHECK struct pace *pace_start(const struct pace_config *config, struct err *err);
void pace_stop(struct pace *pace); // NULL is allowed

// Watches a connected TCP socket from now on. Returns a slot, negative when there is none; fd -1 is
// allowed and not watched. The socket stays open until pace_leave.
int pace_enter(struct pace *pace, int fd, enum pace_way way);

// True when the client was cut: its socket then delivers no more bytes, and takes none either when
// an answer was watched.
bool pace_was_cut(struct pace *pace, int slot);

void pace_leave(struct pace *pace, int slot);

// Who is at the other end of a connected socket of that port of ours; false for all else.
MUST_CHECK bool pace_peer(int fd, unsigned own_port, char address[NI_MAXHOST], int *port);

#endif
