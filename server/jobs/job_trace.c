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
    struct pipeline_files files; // keep is part's
    struct blob_part part;
    uint64_t kept_bytes; // of the trace that is stored
    int tables;          // results from the process
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
    struct blobs *blobs = attempt->site->config->blobs;
    struct err ignored;
    if (!blob_open_trace(blobs, attempt->job->trace_id.at, &files->kept, &attempt->kept_bytes,
                         &ignored))
        attempt->kept_bytes = 0;
    bool is_there = open_input(attempt, err);
    bool is_read = files->kept < 0 && (is_there || err->code == ERR_NOT_FOUND);
    if ((is_read && !job_input_check(attempt->site->config, attempt->job, files->input,
                                     attempt->progress, err)) ||
        !is_there)
        return false;
    if (!blob_part_open(blobs, &attempt->part, &ignored))
        log_warn("job %lld: its trace will not be kept: %s", (long long)attempt->job->id,
                 ignored.msg);
    files->keep = attempt->part.fd;
    attempt->tables = blob_scratch(blobs, err);
    return attempt->tables >= 0;
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

static bool is_trace(int fd, struct err *err)
{
    int own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own_fd < 0)
        return err_set_errno(err, "opening it");
    struct trace_file *file = trace_file_open_fd(own_fd, "it", err);
    bool is_sound = file;
    trace_file_close(file);
    return is_sound;
}

// A trace is stored if it looks valid. Without it a later analysis reads the upload.
static void store_kept(struct attempt *attempt)
{
    struct err err;
    struct stat info;
    if (is_trace(attempt->part.fd, &err) &&
        blob_keep_trace(attempt->site->config->blobs, attempt->job->trace_id.at, &attempt->part,
                        &err))
        attempt->kept_bytes =
            fstat(attempt->part.fd, &info) == 0 ? (uint64_t)info.st_size : attempt->kept_bytes;
    else
        log_warn("job %lld: its trace is not kept for later: %s", (long long)attempt->job->id,
                 err.msg);
}

// --- the process --------------------------------------------------------------------------------

bool job_room_check(const struct jobs_config *config, const char *purpose, struct err *err)
{
    uint64_t free_bytes, least_bytes = config->min_free_bytes / 2;
    return blob_free_bytes(config->blobs, &free_bytes, err) &&
           (free_bytes >= least_bytes ||
            err_set(err, ERR_SPACE, "found %llu bytes free, expected %llu to %s",
                    (unsigned long long)free_bytes, (unsigned long long)least_bytes, purpose));
}

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
    order.process = job->process;
    order.options.step_pattern = job->step_pattern.len ? job->step_pattern.at : NULL;
    order.options.warmup_steps = (int)job->warmup_steps;
    return order;
}

void job_tell_walls(struct job_site *site, unsigned walls)
{
    if (walls == SANDBOX_ALL || atomic_exchange(&site->warned_of_walls, true))
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

static bool store_found(const struct attempt *attempt, struct err *err)
{
    const struct jobs_config *config = attempt->site->config;
    const struct pipeline_result *found = &attempt->reply.found;
    struct trace_result result = {
        .tables = attempt->tables,
        .secrets = attempt->reply.tables.secrets,
        .kept_bytes = (int64_t)attempt->kept_bytes,
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
    struct attempt attempt = {.site = site,
                              .job = job,
                              .progress = progress,
                              .files = {-1, -1, -1},
                              .part.fd = -1,
                              .tables = -1};
    bool ok = open_files(&attempt, err) && read_files(&attempt, death, err);
    close_file(attempt.files.input);
    close_file(attempt.files.kept);
    if (ok && attempt.reply.found.kept)
        store_kept(&attempt);
    blob_part_close(&attempt.part);
    ok = ok && store_found(&attempt, err);
    close_file(attempt.tables);
    return ok;
}
