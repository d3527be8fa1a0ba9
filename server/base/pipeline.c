// SPDX-License-Identifier: Apache-2.0
// The whole product, in the order in which it happens. Read this file first.
//
//   bytes ── ingest_fd ──> struct trace ── analyze_trace ──> struct report
//                              │                                  │
//                      trace_file_save_fd                one per rank of a run
//                              │                                  │
//                      read again when the               analyze_run ──> struct report
//                      analyses have changed
//
// A trace is the profile of one rank: sealed columns of events. A report is tables of numbers.
// Nothing here depends on how they are stored or shown. The command line calls these functions
// directly (cmd_analyze.c). The service runs pipeline_trace, which reads untrusted files, in a
// sandboxed child process: jobs.c takes a job, job_trace.c opens its files, job_child.c starts and
// watches the process, cmd_job.c runs in it. pipeline_run joins small runs in the service and large
// ones in a child process (job_run.c).
#include "server/base/pipeline.h"

#include "analysis/evidence/evidence_report.h"
#include "ingest/base/clock.h"
#include "ingest/base/crew.h"
#include "ingest/base/log.h"
#include "ingest/trace/trace_file.h"

#include <unistd.h>

// The trace kept by an earlier job. NULL if there is none, or none that this build reads.
static struct trace *load_kept(int fd, struct budget *budget)
{
    struct err err;
    if (fd < 0)
        return NULL;
    struct trace *trace = trace_file_load_fd(fd, "the kept trace", budget, &err);
    if (!trace)
        log_info("reading the upload again, its kept trace is of no use: %s", err.msg);
    return trace;
}

// What is done with a trace.
struct use {
    const struct pipeline_job *job;
    const struct trace *trace;
    int keep_fd;
    struct report *report;
    struct pipeline_result *result;
    int64_t process; // FORMAT_WHOLE: the only one of its file
};

static bool keep_task(void *context, struct err *err)
{
    (void)err;
    const struct use *use = context;
    struct err ignored; // without it a later analysis reads the upload again
    use->result->kept = trace_file_save_fd(use->trace, use->keep_fd, "the kept trace", &ignored);
    if (!use->result->kept)
        log_warn("a trace is not kept for later: %s", ignored.msg);
    return true;
}

// From the trace to its report and its identity.
static bool analyze_task(void *context, struct err *err)
{
    const struct use *use = context;
    const struct trace *trace = use->trace;
    if (use->job->progress && use->job->progress->cancel)
        return err_set(err, ERR_CANCELLED, "cancelled before the analysis");
    struct analysis_options options = use->job->options;
    options.shares_file = use->process != FORMAT_WHOLE;
    use->result->events = trace->event_count;
    use->result->text_bytes = (int64_t)trace->text_bytes;
    return identity_of(trace, use->report->arena, &use->result->identity, err) &&
           analyze_trace(trace, &options, use->report, err);
}

// Keeps a trace just read, alongside its analysis if a core is free.
static bool use_trace(struct use *use, struct err *err)
{
    struct crew_task tasks[] = {{.run = keep_task, .context = use},
                                {.run = analyze_task, .context = use}};
    bool keeps = use->keep_fd >= 0;
    return crew_run(use->job->options.cores, tasks + !keeps, keeps ? 2 : 1, err);
}

// Analyses a trace just read, and frees it.
static bool use_up(struct use *use, struct trace *trace, int64_t begin_ns, struct err *err)
{
    int64_t parsed_ns = clock_mono_ns();
    use->trace = trace;
    bool ok = use_trace(use, err);
    use->result->parse_ns = parsed_ns - begin_ns;
    use->result->analyze_ns = clock_mono_ns() - parsed_ns;
    use->result->peak_bytes = use->report->arena->budget->peak;
    trace_free(trace);
    return ok;
}

static void close_unused(int fd)
{
    if (fd >= 0)
        close(fd);
}

// The file in which the trace will be kept is still empty: a format that needs random access is
// unpacked into it.
static struct trace *read_input(const struct pipeline_files *files, const struct pipeline_job *job,
                                struct budget *budget, struct err *err)
{
    struct ingest_from from = {
        .fd = files->input, .part = job->process, .scratch = {.fd = files->keep, .from = 0}};
    struct trace *trace = ingest_fd(&from, budget, job->progress, err);
    if (trace && files->keep >= 0 && ftruncate(files->keep, 0) != 0) {
        err_set_errno(err, "emptying a temporary file");
        trace_free(trace);
        return NULL;
    }
    return trace;
}

bool pipeline_trace(const struct pipeline_files *files, const struct pipeline_job *job,
                    struct report *report, struct pipeline_result *result, struct err *err)
{
    struct budget *budget = report->arena->budget; // one for the trace and its report
    *result = (struct pipeline_result){0};

    int64_t begin_ns = clock_mono_ns();
    struct trace *kept = load_kept(files->kept, budget);
    struct trace *trace = kept ? kept : read_input(files, job, budget, err);
    bool keeps = trace && !kept;
    if (!keeps)
        close_unused(files->keep);
    struct use use = {.job = job,
                      .keep_fd = keeps ? files->keep : -1,
                      .report = report,
                      .result = result,
                      .process = job->process};
    return trace && use_up(&use, trace, begin_ns, err);
}

bool pipeline_opened(struct source *source, const struct format_found *found,
                     const struct pipeline_job *job, struct report *report,
                     struct pipeline_result *result, struct err *err)
{
    *result = (struct pipeline_result){0};
    int64_t begin_ns = clock_mono_ns();
    struct trace *trace = ingest_opened(source, found, report->arena->budget, job->progress, err);
    int keep_fd = job->keep ? *job->keep : -1;
    if (!trace)
        close_unused(keep_fd);
    struct use use = {
        .job = job, .keep_fd = keep_fd, .report = report, .result = result, .process = found->part};
    return trace && use_up(&use, trace, begin_ns, err);
}

bool pipeline_file(const char *path, const struct pipeline_job *job, struct report *report,
                   struct pipeline_result *result, struct err *err)
{
    struct pipeline_files files = {.kept = -1, .keep = -1};
    if (!source_open_path(path, &files.input, err))
        return false;
    bool ok = pipeline_trace(&files, job, report, result, err);
    close(files.input);
    return ok;
}

bool pipeline_run(const struct rank_source *ranks, struct report *report, struct err *err)
{
    return (ranks->count == 0 && ranks->evidence_count == 0) || analyze_run(ranks, report, err);
}

bool pipeline_evidence(const struct pipeline_files *files, struct str filename,
                       struct progress *progress, struct report *report, struct err *err)
{
    struct evidence evidence;
    struct ingest_from from = {
        .fd = files->input, .scratch = {.fd = files->keep, .from = 0}, .filename = filename};
    evidence_init(&evidence, report->arena->budget);
    bool ok = ingest_evidence(&from, &evidence, progress, err) &&
              evidence_report(&evidence, filename, report, err);
    evidence_free(&evidence);
    return ok;
}
