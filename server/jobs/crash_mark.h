// SPDX-License-Identifier: Apache-2.0
// Shows at the next start whether the last process crashed or was killed from outside: a file that
// causes crashes must be given up, one that was merely interrupted must not.
#ifndef SERVER_CRASH_MARK_H
#define SERVER_CRASH_MARK_H

#include "ingest/base/err.h"

// Reads and clears the mark below data_dir (crashed: whether it was set), then sets it when this
// process gets a fatal signal that it caused itself. Call it once per process, before other threads
// start.
MUST_CHECK bool crash_mark_open(const char *data_dir, bool *crashed, struct err *err);

#endif
