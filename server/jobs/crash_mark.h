// SPDX-License-Identifier: Apache-2.0
// Tells at the next start whether the last process fell over by itself or was killed from outside:
// a file that is to blame for crashes must end, one that was merely interrupted must not.
#ifndef SERVER_CRASH_MARK_H
#define SERVER_CRASH_MARK_H

#include "ingest/base/err.h"

// Reads and clears the mark below data_dir (crashed: whether it was set), then sets it when a fatal
// signal of our own making comes. Once per process, before other threads start.
MUST_CHECK bool crash_mark_open(const char *data_dir, bool *crashed, struct err *err);

#endif
