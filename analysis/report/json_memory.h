// SPDX-License-Identifier: Apache-2.0
// Tells a JSON text that is none from one for which there was no memory: the library that reads
// JSON says the same of both.
#ifndef ANALYSIS_JSON_MEMORY_H
#define ANALYSIS_JSON_MEMORY_H

#include "ingest/base/err.h"

// Once, before the first JSON, while alone.
void json_memory_watch(void);

// From now on on this thread.
void json_memory_forget(void);

// ERR_MEMORY when the library asked in vain for memory on this thread since then.
MUST_CHECK bool json_memory_check(struct err *err);

#endif
