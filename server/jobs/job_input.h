// SPDX-License-Identifier: Apache-2.0
// The uploaded file that a job reads.
#ifndef SERVER_JOB_INPUT_H
#define SERVER_JOB_INPUT_H

#include "ingest/source/format.h"
#include "server/jobs/jobs.h"

// Opens it; -1 and ERR_NOT_FOUND if it is missing, ERR_BUSY for a lack of descriptors or memory.
MUST_CHECK bool job_input_open(const struct jobs_config *config, const struct job *job, int *fd,
                               struct err *err);

// Hashes it unless that was done lately, and notes what it finds: figures from damaged bytes would
// be wrong without anyone noticing. fd: -1 if it is missing. ERR_FORMAT if it is damaged.
MUST_CHECK bool job_input_check(const struct jobs_config *config, const struct job *job, int fd,
                                struct progress *progress, struct err *err);

#endif
