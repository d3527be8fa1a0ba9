// SPDX-License-Identifier: Apache-2.0
// Sends a built-in trace through the same path as every other.
#include "server/jobs/job_check.h"

#include "server/jobs/job_trace.h"

#include "ingest/base/log.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TRIES = 3 }; // as many as a job has

static const char trace[] =
    "{\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,"
    "\"ts\":80,\"dur\":90},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":85,\"dur\":"
    "15},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":90,\"dur\":5,\"args\":{\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":50,"
    "\"args\":{\"correlation\":1,\"device\":0,\"stream\":7}}]}";

static bool open_files(struct pipeline_files *files, int *tables, struct err *err)
{
    files->kept = -1;
    files->input = memfd_create("stepscope-check", MFD_CLOEXEC);
    files->keep = memfd_create("stepscope-check", MFD_CLOEXEC);
    *tables = memfd_create("stepscope-check", MFD_CLOEXEC);
    size_t len = sizeof trace - 1;
    return (files->input >= 0 && files->keep >= 0 && *tables >= 0 &&
            pwrite(files->input, trace, len, 0) == (ssize_t)len) ||
           err_set_errno(err, "making a trace to read");
}

// The process shares our file offsets: one that died may have moved them.
static bool rewind_files(const struct job_child_task *task, struct err *err)
{
    const struct pipeline_files *files = &task->files;
    return (lseek(files->input, 0, SEEK_SET) == 0 && lseek(files->keep, 0, SEEK_SET) == 0 &&
            lseek(task->tables, 0, SEEK_SET) == 0 && ftruncate(files->keep, 0) == 0 &&
            ftruncate(task->tables, 0) == 0) ||
           err_set_errno(err, "making a trace to read");
}

static void close_files(const struct job_child_task *task)
{
    const int fds[] = {task->files.input, task->files.keep, task->tables};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

// True if the process answered, or if the reason it did not says nothing about the machine.
static bool read_trace(const struct job_child_task *task, struct job_death *death)
{
    struct job_reply reply;
    struct err why = {.pos = ERR_NO_POS};
    bool ok = job_child_run(task, &reply, death, &why);
    if (ok && !reply.ok)
        why = reply.err;
    if (!death->verb && why.code != ERR_NONE)
        log_warn("the trace reader process failed its self-test: %s", why.msg);
    return !death->verb;
}

static bool try_often(const struct job_child_task *task, struct err *err)
{
    struct job_death death = {0};
    for (int i = 0; i < TRIES; i++) {
        if (!rewind_files(task, err))
            return false;
        if (read_trace(task, &death))
            return true;
    }
    return err_set(err, ERR_INTERNAL,
                   "the process that reads traces %s (%s), even with a valid trace: this machine "
                   "stops it, and every upload would fail; those that wait stay queued. Look at "
                   "limits and filters of the service",
                   death.verb, death.detail);
}

bool job_check_run(const struct jobs_config *config, struct err *err)
{
    enum { LONGEST_S = 30 };
    struct jobs_config chosen = *config;
    chosen.cores = config->cores ? config->cores : 1;
    struct cores cores;
    struct progress progress = {0};
    struct job_child_task task = {
        .cores = &cores, .progress = &progress, .limit_ns = (int64_t)LONGEST_S * 1000000000};
    struct cores_page *page = shared_page_new(&task.cores_fd, err);
    if (!page)
        return false;
    cores_share(&cores, &page->free, NULL);
    bool ok = open_files(&task.files, &task.tables, err);
    task.order = job_trace_order(&chosen, &task.files, LONGEST_S, sizeof trace);
    ok = ok && try_often(&task, err);
    close_files(&task);
    shared_page_close(page, task.cores_fd);
    return ok;
}
