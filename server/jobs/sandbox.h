// SPDX-License-Identifier: Apache-2.0
// Confines the calling process: from then on it can compute, use the descriptors it has, and exit.
// For processes that read untrusted bytes.
#ifndef SERVER_SANDBOX_H
#define SERVER_SANDBOX_H

#include "ingest/base/err.h"

struct sandbox_limits {
    uint64_t address_bytes; // of memory, 0: none
    uint64_t cpu_seconds;   // of all threads together
    uint64_t file_bytes;    // length of a file that it writes
    unsigned descriptors;   // below this number
};

// The protections of the process. A kernel may lack the second and third; builds with sanitizers
// need what they forbid.
enum sandbox_wall { SANDBOX_LIMITS = 1, SANDBOX_LANDLOCK = 2, SANDBOX_SECCOMP = 4 };
#define SANDBOX_ALL (SANDBOX_LIMITS | SANDBOX_LANDLOCK | SANDBOX_SECCOMP)

// Call it while the process has a single thread. *walls: those in place. Fails if one that the
// kernel supports cannot be set up. Opening a file is refused, as is any system call that is not on
// the list; one that only an attacker makes ends the process with SIGSYS.
MUST_CHECK bool sandbox_enter(const struct sandbox_limits *limits, unsigned *walls,
                              struct err *err);

#endif
