// SPDX-License-Identifier: Apache-2.0
// An evidence job: has a child process read an attachment that says something about its run, such
// as a training log, and stores its tables.
#ifndef SERVER_JOB_EVIDENCE_H
#define SERVER_JOB_EVIDENCE_H

#include "server/jobs/job_trace.h"

// Fails like job_child_run and the store; ERR_FORMAT with what is wrong with the file.
MUST_CHECK bool job_evidence_run(struct job_site *site, const struct job *job,
                                 struct progress *progress, struct job_death *death,
                                 struct err *err);

#endif
