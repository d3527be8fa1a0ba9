// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_evidence.h"

#include "server/jobs/job_input.h"
#include "server/store/store_inputs.h"

#include <unistd.h>

struct reading {
    struct job_site *site;
    const struct job *job;
    struct progress *progress;
    int input, tables, scratch;
    struct job_reply reply;
};

static bool open_files(struct reading *reading, struct err *err)
{
    const struct jobs_config *config = reading->site->config;
    return job_input_open(config, reading->job, &reading->input, err) &&
           job_input_check(config, reading->job, reading->input, reading->progress, err) &&
           (reading->scratch = blob_scratch(config->blobs, err)) >= 0 &&
           (reading->tables = blob_scratch(config->blobs, err)) >= 0;
}

static bool run_child(struct reading *reading, struct job_death *death, struct err *err)
{
    struct job_site *site = reading->site;
    const struct job *job = reading->job;
    int64_t seconds = job_trace_seconds(site->config, job->bytes);
    struct job_child_task task = {
        .files = {.input = reading->input, .kept = -1, .keep = reading->scratch},
        .tables = reading->tables,
        .cores = site->cores,
        .cores_fd = site->cores_fd,
        .limit_ns = seconds * 1000000000,
        .progress = reading->progress,
        .job_id = job->id};
    task.order = job_trace_order(site->config, &task.files, seconds, job->bytes);
    task.order.gathers = true;
    task.order.filename = job->filename;
    if (!job_child_run(&task, &reading->reply, death, err))
        return false;
    job_tell_walls(site, reading->reply.walls);
    if (!reading->reply.ok)
        *err = reading->reply.err;
    return reading->reply.ok;
}

bool job_evidence_run(struct job_site *site, const struct job *job, struct progress *progress,
                      struct job_death *death, struct err *err)
{
    struct reading reading = {
        .site = site, .job = job, .progress = progress, .input = -1, .tables = -1, .scratch = -1};
    bool ok = open_files(&reading, err) && run_child(&reading, death, err) &&
              store_finish_evidence(site->config->store, job, reading.tables,
                                    (int64_t)reading.reply.tables.join_bytes, err);
    const int fds[] = {reading.input, reading.tables, reading.scratch};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return ok;
}
