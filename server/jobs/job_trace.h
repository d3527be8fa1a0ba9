// SPDX-License-Identifier: Apache-2.0
// A trace job on the service's side: opens its files, has a process read them, names the kept trace
// and stores the results.
#ifndef SERVER_JOB_TRACE_H
#define SERVER_JOB_TRACE_H

#include "server/jobs/job_child.h"
#include "server/jobs/jobs.h"

// Shared by all jobs of a service.
struct job_site {
    const struct jobs_config *config;
    struct cores *cores;
    int cores_fd;
    struct jobs *jobs;            // to wake when there is more to do
    _Atomic bool warned_of_walls; // that the sandbox is incomplete
};

// Logs, once per service, which protections the sandbox lacks.
void job_tell_walls(struct job_site *site, unsigned walls);

// ERR_SPACE if the disk has no room for results: half of what uploads must leave free. purpose:
// what they are needed for.
MUST_CHECK bool job_room_check(const struct jobs_config *config, const char *purpose,
                               struct err *err);

// How long a file of that many bytes may take.
int64_t job_trace_seconds(const struct jobs_config *config, int64_t bytes);

// The order for a process that reads a file of that many bytes within that time.
struct job_order job_trace_order(const struct jobs_config *config,
                                 const struct pipeline_files *files, int64_t seconds,
                                 int64_t bytes);

// Fails as job_child_run and the store do, or with what the process reports wrong with the file.
MUST_CHECK bool job_trace_run(struct job_site *site, const struct job *job,
                              struct progress *progress, struct job_death *death, struct err *err);

#endif
