// SPDX-License-Identifier: Apache-2.0
// An unpack job: has a process take an archive apart, and stores its members.
#ifndef SERVER_JOB_UNPACK_H
#define SERVER_JOB_UNPACK_H

#include "server/jobs/job_trace.h"

// Failures of job_child_run and of the store; ERR_SPACE if members find no room on the disk or in a
// quota. What an earlier attempt stored is not stored again.
MUST_CHECK bool job_unpack_run(struct job_site *site, const struct job *job,
                               struct progress *progress, struct job_death *death, struct err *err);

// The folder in a member's path that says in which window of a run it was recorded:
// "iteration_100" or "step_100"; "" none.
struct str job_unpack_window(struct str path);

#endif
