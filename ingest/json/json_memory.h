// SPDX-License-Identifier: Apache-2.0
// Distinguishes invalid JSON from JSON for which there was no memory: the library reports both as
// the same error.
#ifndef INGEST_JSON_MEMORY_H
#define INGEST_JSON_MEMORY_H

#include "ingest/base/err.h"

// Call once, before the first JSON is read and before other threads start.
void json_memory_watch(void);

// Starts watching this thread.
void json_memory_forget(void);

// ERR_MEMORY if the library could not get memory on this thread since then.
MUST_CHECK bool json_memory_check(struct err *err);

#endif
