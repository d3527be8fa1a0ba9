// SPDX-License-Identifier: Apache-2.0
// What the system reports about this process.
#ifndef SERVER_PROCESS_STATE_H
#define SERVER_PROCESS_STATE_H

#include <stdint.h>

struct process_state {
    uint64_t resident_bytes;
    uint64_t threads;
    uint64_t open_fds, max_fds;
    double cpu_s;
    double start_s; // since 1970
};

// What cannot be determined stays 0.
void process_state_read(struct process_state *state);

#endif
