// SPDX-License-Identifier: Apache-2.0
// The overview of a run's ranks, from their traces and the clocks that joining found.
#ifndef SERVER_JOB_OVERVIEW_H
#define SERVER_JOB_OVERVIEW_H

#include "server/jobs/job_trace.h"
#include "server/store/store.h"

struct overview_task {
    struct job_site *site;
    struct str run_id;
    const struct rank_trace *traces; // ascending by rank
    size_t count;
    int tables; // the run's
    const struct progress *progress;
};

// Stores it under the run's id. A run without it lacks one picture: failures are logged, and an
// earlier overview, of other ranks, is removed. False only with ERR_CANCELLED: then the earlier one
// stays.
MUST_CHECK bool job_overview_make(const struct overview_task *task, struct err *err);

#endif
