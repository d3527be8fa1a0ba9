// SPDX-License-Identifier: Apache-2.0
// Whether a process that reads traces works on this machine, checked before any user's trace is
// read.
#ifndef SERVER_JOB_CHECK_H
#define SERVER_JOB_CHECK_H

#include "server/jobs/jobs.h"

// Has a process read a small trace, as a job would. False with ERR_INTERNAL if it dies every time:
// then every job would die, and its trace be blamed. Temporary failures, such as a lack of memory,
// are only logged. Builds with sanitizers have no sandbox, so there it proves little.
MUST_CHECK bool job_check_run(const struct jobs_config *config, struct err *err);

#endif
