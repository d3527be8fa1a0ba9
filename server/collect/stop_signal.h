// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as something to look at between steps and to wait for.
#ifndef SERVER_STOP_SIGNAL_H
#define SERVER_STOP_SIGNAL_H

#include "ingest/base/err.h"

#include <stdatomic.h>

struct stop_signal {
    int fd;
    atomic_bool seen;            // these two may be read by several threads
    _Atomic int64_t deadline_ns; // once seen: until when work may go on; 0: stop at once
};

// Blocks the two signals of this process from now on.
MUST_CHECK bool stop_signal_open(struct stop_signal *stop, struct err *err);
void stop_signal_close(struct stop_signal *stop);

// Whether a signal has arrived.
bool stop_signal_seen(struct stop_signal *stop);

// Whether work must end now: a signal has arrived, and its deadline, if any, has passed or a second
// signal has followed. For http_call.stop.
bool stop_signal_now(void *stop);

// Waits for a signal or for fd (-1: none) to be readable. Returns whether fd is.
bool stop_signal_wait(struct stop_signal *stop, int fd, int64_t wait_ns);

#endif
