// SPDX-License-Identifier: Apache-2.0
// Shuts the calling process in: from then on it can compute, use the descriptors that it has, and
// end. For processes that read bytes of strangers.
#ifndef SERVER_SANDBOX_H
#define SERVER_SANDBOX_H

#include "ingest/base/err.h"

struct sandbox_limits {
    uint64_t address_bytes; // of memory, 0: none
    uint64_t cpu_seconds;   // of all threads together
    uint64_t file_bytes;    // length of a file that it writes
    unsigned descriptors;   // below this number
};

// What stands around the process. A kernel may lack the second and third; builds with sanitizers
// need what they forbid.
enum sandbox_wall { SANDBOX_LIMITS = 1, SANDBOX_LANDLOCK = 2, SANDBOX_SECCOMP = 4 };
#define SANDBOX_ALL (SANDBOX_LIMITS | SANDBOX_LANDLOCK | SANDBOX_SECCOMP)

// While the process has one thread only. *walls: those that stand. Fails when one that could stand
// does not. Opening a file is refused, as is any system call that is not on the list; one that only
// an attacker makes ends the process with SIGSYS.
MUST_CHECK bool sandbox_enter(const struct sandbox_limits *limits, unsigned *walls,
                              struct err *err);

#endif
