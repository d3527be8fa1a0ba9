// SPDX-License-Identifier: Apache-2.0
// Whether a process that reads traces works on this machine, before any trace of a user is read.
#ifndef SERVER_JOB_CHECK_H
#define SERVER_JOB_CHECK_H

#include "server/jobs/jobs.h"

// Has a process read a small trace, as a job would. False with ERR_INTERNAL when it dies each time:
// then every job would, and be blamed for it. What passes by itself, such as a lack of memory, is
// logged only. Builds with sanitizers have no sandbox: there it is worth little.
MUST_CHECK bool job_check_run(const struct jobs_config *config, struct err *err);

#endif
