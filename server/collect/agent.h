// SPDX-License-Identifier: Apache-2.0
// On a node: answers training processes that ask what to record, asks the hub whether someone wants
// a recording, and sends what comes.
#ifndef SERVER_AGENT_H
#define SERVER_AGENT_H

#include "server/collect/remote_hub.h"

struct agent_config {
    struct remote_hub *hub;
    struct stop_signal *stop;
    const char *node;          // its name
    const char *socket_folder; // NULL: the abstract socket
    const char *traces;        // folder that processes write to: below /tmp, or their
                               // KINETO_ONDEMAND_TRACE_DIR
    int64_t poll_s;            // how often the hub is asked
};

// Runs until stop. ERR_BUSY if another daemon has the socket.
MUST_CHECK bool agent_run(const struct agent_config *config, struct err *err);

#endif
