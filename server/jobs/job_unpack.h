// SPDX-License-Identifier: Apache-2.0
// An unpack job: has a child process unpack an archive, and stores its members.
#ifndef SERVER_JOB_UNPACK_H
#define SERVER_JOB_UNPACK_H

#include "server/jobs/job_trace.h"

// Fails like job_child_run and the store; ERR_SPACE if the disk or a quota has no room for the
// members. Members that an earlier attempt stored are skipped.
MUST_CHECK bool job_unpack_run(struct job_site *site, const struct job *job,
                               struct progress *progress, struct job_death *death, struct err *err);

#endif
