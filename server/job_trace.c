// SPDX-License-Identifier: Apache-2.0
// The files and rows of a trace job. The process that reads the file sees descriptors only.
#include "server/job_trace.h"

#include "server/metrics.h"
#include "server/sandbox.h"

#include "ingest/base/log.h"
#include "ingest/trace/trace_file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

struct trace_paths {
    char kept[BLOB_PATH_SIZE], part[BLOB_PATH_SIZE + 8];
};

// --- files --------------------------------------------------------------------------------------

// What is gone stays gone, but descriptors and memory come back.
static bool passes(int number)
{
    return number == EMFILE || number == ENFILE || number == ENOMEM;
}

// The upload may be missing while there is a kept trace.
static bool open_input(const struct job_site *site, const struct job *job,
                       struct pipeline_files *files, struct err *err)
{
    uint64_t bytes;
    errno = 0;
    if (blob_open_read(site->config->blobs, job->sha256.at, &files->input, &bytes, err))
        return true;
    files->input = -1;
    if (passes(errno))
        err->code = ERR_BUSY;
    return err->code == ERR_NOT_FOUND && files->kept >= 0;
}

static bool open_files(const struct job_site *site, const struct job *job,
                       struct trace_paths *paths, struct pipeline_files *files, struct err *err)
{
    blob_trace_path(site->config->blobs, job->trace_id.at, paths->kept);
    snprintf(paths->part, sizeof paths->part, "%s.part", paths->kept);
    files->kept = open(paths->kept, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (!open_input(site, job, files, err))
        return false;
    unlink(paths->part); // of a job that was interrupted
    files->keep = open(paths->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (files->keep < 0)
        log_warn("job %lld: its trace will not be kept, %s cannot be made", (long long)job->id,
                 paths->part);
    return true;
}

static void close_files(const struct pipeline_files *files)
{
    const int fds[] = {files->input, files->kept, files->keep};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

// A kept trace gets its name when it looks like one. Without it a later analysis reads the upload.
static void name_kept(const struct job *job, const struct trace_paths *paths)
{
    struct err err;
    struct trace_file *file = trace_file_open(paths->part, &err);
    bool ok = file && (rename(paths->part, paths->kept) == 0 ||
                       err_set_errno(&err, "naming %s", paths->kept));
    trace_file_close(file);
    if (!ok)
        log_warn("job %lld: its trace is not kept for later: %s", (long long)job->id, err.msg);
}

// --- the process --------------------------------------------------------------------------------

// By default 5 minutes and 2 seconds more per megabyte, some hundred times what it takes.
static int64_t limit_seconds(const struct job_site *site, const struct job *job)
{
    return site->config->job_seconds ? site->config->job_seconds : 300 + job->bytes / 500000;
}

static struct job_order order_of(const struct job_site *site, const struct job *job,
                                 const struct pipeline_files *files)
{
    const struct jobs_config *config = site->config;
    uint64_t memory = config->memory_bytes, cores = config->cores, bytes = (uint64_t)job->bytes;
    return (struct job_order){
        .service_pid = getpid(),
        .memory_bytes = memory,
        // Beside the budget: what is not counted in it, stacks and the allocator's places of
        // threads.
        .address_bytes = memory ? memory + memory / 4 + GIB + cores * 80 * MIB : 0,
        .cpu_seconds = (uint64_t)limit_seconds(site, job) * (cores + 1) + 10,
        .file_bytes = GIB + 16 * bytes,
        .has_input = files->input >= 0,
        .has_kept = files->kept >= 0,
        .has_keep = files->keep >= 0,
        .options = {.step_pattern = job->step_pattern.len ? job->step_pattern.at : NULL,
                    .warmup_steps = (int)job->warmup_steps,
                    .peaks = config->peaks},
    };
}

// Once per service: what protects it less than it could.
static void tell_walls(struct job_site *site, unsigned walls)
{
    if (walls == SANDBOX_ALL || atomic_exchange(&site->told_walls, true))
        return;
    log_warn("analyses run in processes without%s%s%s: %s",
             walls & SANDBOX_SECCOMP ? "" : " seccomp", walls & SANDBOX_LANDLOCK ? "" : " landlock",
             walls & SANDBOX_LIMITS ? "" : " limits",
             "this kernel has them not, or this build has sanitizers");
}

static bool read_files(struct job_site *site, const struct job *job,
                       const struct pipeline_files *files, struct progress *progress,
                       struct job_reply *reply, struct report *report, struct job_death *death,
                       struct err *err)
{
    struct job_child_task task = {.order = order_of(site, job, files),
                                  .files = *files,
                                  .cores = site->cores,
                                  .cores_fd = site->cores_fd,
                                  .limit_ns = limit_seconds(site, job) * 1000000000,
                                  .progress = progress,
                                  .job_id = job->id};
    if (!job_child_run(&task, reply, report, death, err))
        return false;
    tell_walls(site, reply->walls);
    if (!reply->ok)
        *err = reply->err;
    return reply->ok;
}

// --- all of it ----------------------------------------------------------------------------------

static bool store_found(const struct job_site *site, const struct job *job,
                        const struct pipeline_result *found, const struct report *report,
                        struct err *err)
{
    struct trace_result result = {
        .report = report,
        .rank = found->identity.rank,
        .world_size = found->identity.world_size,
        .events = found->events,
        .text_bytes = found->text_bytes,
        .parse_ns = found->parse_ns,
        .analyse_ns = found->analyse_ns,
    };
    metrics_add(site->config->metrics, METRIC_PARSE_BYTES, (uint64_t)found->text_bytes);
    metrics_add(site->config->metrics, METRIC_PARSE_NS, (uint64_t)found->parse_ns);
    return store_finish_trace(site->config->store, job, &result, err);
}

bool job_trace_run(struct job_site *site, const struct job *job, struct progress *progress,
                   struct job_death *death, struct err *err)
{
    struct trace_paths paths;
    struct pipeline_files files = {-1, -1, -1};
    struct budget budget = {.limit = site->config->memory_bytes};
    struct arena arena;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    struct job_reply reply;
    bool ok = open_files(site, job, &paths, &files, err) &&
              read_files(site, job, &files, progress, &reply, &report, death, err);
    close_files(&files);
    if (ok && reply.found.kept)
        name_kept(job, &paths);
    unlink(paths.part);
    ok = ok && store_found(site, job, &reply.found, &report, err);
    arena_free(&arena);
    return ok;
}
