// SPDX-License-Identifier: Apache-2.0
// A trace job as the service does it: opens its files, has a process read them, names the kept
// trace and stores what was found.
#ifndef SERVER_JOB_TRACE_H
#define SERVER_JOB_TRACE_H

#include "server/jobs/job_child.h"
#include "server/jobs/jobs.h"

// What the jobs of a service share.
struct job_site {
    const struct jobs_config *config;
    struct cores *cores;
    int cores_fd;
    struct jobs *jobs;       // to wake when there is more to do
    _Atomic bool told_walls; // that the sandbox lacks something
};

// Logs, once per service, what protects it less than it could.
void job_tell_walls(struct job_site *site, unsigned walls);

// How long a file of so many bytes may take.
int64_t job_trace_seconds(const struct jobs_config *config, int64_t bytes);

// What a process is told that reads a file of so many bytes for at most so long.
struct job_order job_trace_order(const struct jobs_config *config,
                                 const struct pipeline_files *files, int64_t seconds,
                                 int64_t bytes);

// Failures of job_child_run and of the store, or what the process says is wrong with the file.
MUST_CHECK bool job_trace_run(struct job_site *site, const struct job *job,
                              struct progress *progress, struct job_death *death, struct err *err);

#endif
