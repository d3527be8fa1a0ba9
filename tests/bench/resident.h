// SPDX-License-Identifier: Apache-2.0
// A whole job in a separate process: what a user of the command line waits for and pays in memory.
#ifndef BENCH_RESIDENT_H
#define BENCH_RESIDENT_H

#include "ingest/base/err.h"

#include <stdint.h>

#define RESIDENT_OPTION "--job" // the program calls itself with this

struct resident {
    int64_t took_ns;     // from the start of the process to its end
    uint64_t peak_bytes; // peak resident memory
};

// Runs the job of the file in a new process of this program, whose main must pass its arguments to
// resident_job first.
MUST_CHECK bool resident_run(const char *path, struct resident *resident, struct err *err);

// True if the arguments are those of such a process; main then returns *status.
bool resident_job(int argc, char **argv, int *status);

#endif
