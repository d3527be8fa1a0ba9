// SPDX-License-Identifier: Apache-2.0
// The files and rows of a trace job. The process that reads the file sees descriptors only.
#include "server/jobs/job_trace.h"

#include "server/base/metrics.h"
#include "server/jobs/job_input.h"
#include "server/jobs/sandbox.h"

#include "ingest/base/log.h"
#include "ingest/trace/trace_file_open.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

// One attempt at a job.
struct attempt {
    struct job_site *site;
    const struct job *job;
    struct progress *progress;
    char kept_path[BLOB_PATH_SIZE], part_path[BLOB_PATH_SIZE + 8];
    struct pipeline_files files;
    int tables; // results from the process
    struct job_reply reply;
};

// --- files --------------------------------------------------------------------------------------

// The upload may be missing if there is a kept trace.
static bool open_input(struct attempt *attempt, struct err *err)
{
    return job_input_open(attempt->site->config, attempt->job, &attempt->files.input, err) ||
           (err->code == ERR_NOT_FOUND && attempt->files.kept >= 0);
}

static bool open_files(struct attempt *attempt, struct err *err)
{
    struct pipeline_files *files = &attempt->files;
    blob_trace_path(attempt->site->config->blobs, attempt->job->trace_id.at, attempt->kept_path);
    snprintf(attempt->part_path, sizeof attempt->part_path, "%s.part", attempt->kept_path);
    files->kept = open(attempt->kept_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_there = open_input(attempt, err);
    bool is_read = files->kept < 0 && (is_there || err->code == ERR_NOT_FOUND);
    if ((is_read && !job_input_check(attempt->site->config, attempt->job, files->input,
                                     attempt->progress, err)) ||
        !is_there)
        return false;
    unlink(attempt->part_path); // left by an interrupted job
    files->keep =
        open(attempt->part_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (files->keep < 0)
        log_warn("job %lld: its trace will not be kept, %s cannot be made",
                 (long long)attempt->job->id, attempt->part_path);
    attempt->tables = blob_scratch(attempt->site->config->blobs, err);
    return attempt->tables >= 0;
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void close_files(const struct pipeline_files *files)
{
    const int fds[] = {files->input, files->kept, files->keep};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        close_file(fds[i]);
}

// A kept trace gets its final name if it looks valid. Without it a later analysis reads the upload.
static void name_kept(const struct attempt *attempt)
{
    struct err err;
    struct trace_file *file = trace_file_open(attempt->part_path, &err);
    bool ok = file && (rename(attempt->part_path, attempt->kept_path) == 0 ||
                       err_set_errno(&err, "naming %s", attempt->kept_path));
    trace_file_close(file);
    if (!ok)
        log_warn("job %lld: its trace is not kept for later: %s", (long long)attempt->job->id,
                 err.msg);
}

// --- the process --------------------------------------------------------------------------------

// By default 5 minutes plus 2 seconds per megabyte, some hundred times what it needs.
int64_t job_trace_seconds(const struct jobs_config *config, int64_t bytes)
{
    enum { MOST = 366 * 24 * 3600 };
    int64_t chosen = config->job_seconds;
    return chosen ? (chosen < MOST ? chosen : MOST) : 300 + bytes / 500000;
}

static int64_t limit_seconds(const struct attempt *attempt)
{
    return job_trace_seconds(attempt->site->config, attempt->job->bytes);
}

struct job_order job_trace_order(const struct jobs_config *config,
                                 const struct pipeline_files *files, int64_t seconds, int64_t bytes)
{
    uint64_t memory = config->memory_bytes, cores = config->cores;
    return (struct job_order){
        .service_pid = getpid(),
        .memory_bytes = memory,
        // On top of the budget: memory it does not count, such as stacks and the allocator's
        // per-thread arenas.
        .address_bytes = memory ? memory + memory / 4 + GIB + cores * 80 * MIB : 0,
        .cpu_seconds = (uint64_t)seconds * (cores + 1) + 10,
        .file_bytes = GIB + config->tables_bytes + 16 * (uint64_t)bytes,
        .tables_bytes = config->tables_bytes,
        .has_input = files->input >= 0,
        .has_kept = files->kept >= 0,
        .has_keep = files->keep >= 0,
        .options = {.warmup_steps = -1, .peaks = config->peaks},
    };
}

static struct job_order order_of(const struct attempt *attempt)
{
    const struct job *job = attempt->job;
    struct job_order order =
        job_trace_order(attempt->site->config, &attempt->files, limit_seconds(attempt), job->bytes);
    order.options.step_pattern = job->step_pattern.len ? job->step_pattern.at : NULL;
    order.options.warmup_steps = (int)job->warmup_steps;
    return order;
}

void job_tell_walls(struct job_site *site, unsigned walls)
{
    if (walls == SANDBOX_ALL || atomic_exchange(&site->told_walls, true))
        return;
    log_warn("analyses run in processes without%s%s%s: %s",
             walls & SANDBOX_SECCOMP ? "" : " seccomp", walls & SANDBOX_LANDLOCK ? "" : " landlock",
             walls & SANDBOX_LIMITS ? "" : " limits",
             "this kernel lacks them, or this build has sanitizers");
}

static bool read_files(struct attempt *attempt, struct job_death *death, struct err *err)
{
    struct job_child_task task = {.order = order_of(attempt),
                                  .files = attempt->files,
                                  .tables = attempt->tables,
                                  .cores = attempt->site->cores,
                                  .cores_fd = attempt->site->cores_fd,
                                  .limit_ns = limit_seconds(attempt) * 1000000000,
                                  .progress = attempt->progress,
                                  .job_id = attempt->job->id};
    if (!job_child_run(&task, &attempt->reply, death, err))
        return false;
    job_tell_walls(attempt->site, attempt->reply.walls);
    if (!attempt->reply.ok)
        *err = attempt->reply.err;
    return attempt->reply.ok;
}

// --- all of it ----------------------------------------------------------------------------------

static int64_t kept_bytes(const struct attempt *attempt)
{
    struct stat info;
    return stat(attempt->kept_path, &info) == 0 ? info.st_size : 0;
}

static bool store_found(const struct attempt *attempt, struct err *err)
{
    const struct jobs_config *config = attempt->site->config;
    const struct pipeline_result *found = &attempt->reply.found;
    struct trace_result result = {
        .tables = attempt->tables,
        .secrets = attempt->reply.tables.secrets,
        .kept_bytes = kept_bytes(attempt),
        .join_bytes = (int64_t)attempt->reply.tables.join_bytes,
        .rank = found->identity.rank,
        .world_size = found->identity.world_size,
        .events = found->events,
        .text_bytes = found->text_bytes,
        .parse_ns = found->parse_ns,
        .analyze_ns = found->analyze_ns,
    };
    metrics_add(config->metrics, METRIC_PARSE_BYTES, (uint64_t)found->text_bytes);
    metrics_add(config->metrics, METRIC_PARSE_NS, (uint64_t)found->parse_ns);
    return store_finish_trace(config->store, attempt->job, &result, err);
}

bool job_trace_run(struct job_site *site, const struct job *job, struct progress *progress,
                   struct job_death *death, struct err *err)
{
    struct attempt attempt = {
        .site = site, .job = job, .progress = progress, .files = {-1, -1, -1}, .tables = -1};
    bool ok = open_files(&attempt, err) && read_files(&attempt, death, err);
    close_files(&attempt.files);
    if (ok && attempt.reply.found.kept)
        name_kept(&attempt);
    unlink(attempt.part_path);
    ok = ok && store_found(&attempt, err);
    close_file(attempt.tables);
    return ok;
}
