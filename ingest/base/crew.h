// SPDX-License-Identifier: Apache-2.0
// Runs independent tasks on the calling thread and on as many helpers as there are free cores.
#ifndef INGEST_BASE_CREW_H
#define INGEST_BASE_CREW_H

#include "ingest/base/cores.h"
#include "ingest/base/err.h"

#include <stddef.h>

struct crew_task {
    bool (*run)(void *context, struct err *err); // writes nothing that another task touches
    void *context;
    struct err err; // of this task, if it failed; set by crew_run
    bool failed;
};

// One phase: tasks start in order, and every task that started is done when this returns. Helpers
// come as cores get free, between two tasks of the caller, and leave early when other jobs need
// their core; with none (cores NULL) the caller runs all tasks in order. The caller holds a core
// and lends it out while it waits. After a failure no further task starts; the error returned is
// that of the first failed task in task order, the same one as without helpers.
MUST_CHECK bool crew_run(struct cores *cores, struct crew_task *tasks, size_t count,
                         struct err *err);

// Works on items from .. to - 1, while others work on the rest.
typedef bool crew_range(void *context, size_t from, size_t to, struct err *err);

// All items, in ranges of `least` or more, so that starting a helper pays: the result must not
// depend on where they are cut. Errors as above.
MUST_CHECK bool crew_each(struct cores *cores, size_t count, size_t least, crew_range *run,
                          void *context, struct err *err);

#endif
