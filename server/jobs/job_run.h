// SPDX-License-Identifier: Apache-2.0
// A run job: joins the ranks of a run and stores the run's tables.
#ifndef SERVER_JOB_RUN_H
#define SERVER_JOB_RUN_H

#include "server/jobs/job_trace.h"

// Fails as job_child_run and the store do, or with what is wrong with the ranks.
MUST_CHECK bool job_run_join(struct job_site *site, const struct job *job,
                             struct progress *progress, struct job_death *death, struct err *err);

#endif
