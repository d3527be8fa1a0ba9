// SPDX-License-Identifier: Apache-2.0
// Sends one file to a hub by its resumable uploads, whatever breaks off meanwhile.
#ifndef SERVER_SEND_FILE_H
#define SERVER_SEND_FILE_H

#include "server/collect/remote_hub.h"

struct send_target {
    struct remote_hub *hub;
    const char *run;     // NULL: a new run
    const char *project; // NULL: none
    const char *role;    // of all traces in a reinforcement learning job; NULL: none
    const char *meta;    // "key=value,key=value" or NULL
    bool replace;        // another file of the same rank
};

struct send_result {
    char sha256[65];
    char run_id[64];  // of the hub
    char upload[128]; // "/api/v1/uploads/..."
    bool was_there;   // it had these bytes under this name already
};

// path is read, name is what the hub sees. ERR_FORMAT: the hub refuses the file for good;
// ERR_DENIED; ERR_BUSY: patience is over; ERR_CANCELLED; ERR_CONFLICT: the file changed while it
// was sent; ERR_NOT_FOUND and ERR_IO: it cannot be read.
MUST_CHECK bool send_file(const struct send_target *target, const char *path, const char *name,
                          struct send_result *result, struct err *err);

#endif
