// SPDX-License-Identifier: Apache-2.0
// Runs independent tasks on the calling thread and on as many helpers as cores are free.
#ifndef INGEST_BASE_CREW_H
#define INGEST_BASE_CREW_H

#include "ingest/base/cores.h"
#include "ingest/base/err.h"

#include <stddef.h>

struct crew_task {
    bool (*run)(void *context, struct err *err); // touches nothing that another task writes
    void *context;
    struct err err; // of this task, when it failed; set by crew_run
    bool failed;
};

// One phase: tasks are begun in their order, and all that began are done when it returns. Helpers
// leave early when other work needs their core; without any (cores NULL) the caller does it all in
// order. The caller holds a core, and lends it to others while it waits. After a failure no further
// task begins; of those that failed, the first in the order of the tasks is told, which is the one
// that fails without helpers.
MUST_CHECK bool crew_run(struct cores *cores, struct crew_task *tasks, size_t count,
                         struct err *err);

#endif
