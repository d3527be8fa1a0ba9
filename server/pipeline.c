// SPDX-License-Identifier: Apache-2.0
// The whole product, in the order in which it happens. Read this file first.
//
//   bytes ── ingest_file ──> struct trace ── analyse_trace ──> struct report
//                                │                                  │
//                         trace_file_save                    one per rank of a run
//                                │                                  │
//                        read again when the               analyse_run ──> struct report
//                        analyses have changed
//
// A trace is the profile of one rank: sealed columns of events. A report is tables of numbers.
// Who stores them and shows them is not known here; see jobs.c for the service and cmd_analyze.c
// for the command line, which call these two functions.
#include "server/pipeline.h"

#include "ingest/base/clock.h"
#include "ingest/base/crew.h"
#include "ingest/base/log.h"
#include "ingest/trace/trace_file.h"

#include <stdio.h>
#include <unistd.h>

// The trace as an earlier job kept it. NULL when there is none, or none that this build reads.
static struct trace *load_kept(const struct pipeline_job *job, struct budget *budget)
{
    struct err err;
    if (!job->trace_path || access(job->trace_path, R_OK) != 0)
        return NULL;
    struct trace *trace = trace_file_load(job->trace_path, budget, &err);
    if (!trace)
        log_info("reading the upload again, its kept trace is of no use: %s", err.msg);
    return trace;
}

// Keeps a trace for later analyses. A half-written file never has the final name.
static bool keep(const struct trace *trace, const char *path, struct err *err)
{
    char part_path[4096];
    int len = snprintf(part_path, sizeof part_path, "%s.part", path);
    if (len < 0 || (size_t)len >= sizeof part_path)
        return err_set(err, ERR_LIMIT, "the path %s is too long", path);
    unlink(part_path); // of a job that was interrupted
    if (!trace_file_save(trace, part_path, err)) {
        unlink(part_path);
        return false;
    }
    return rename(part_path, path) == 0 || err_set_errno(err, "naming %s", path);
}

static bool is_cancelled(const struct pipeline_job *job)
{
    return job->progress && job->progress->cancel;
}

// What is done with a trace.
struct use {
    const struct pipeline_job *job;
    const struct trace *trace;
    struct report *report;
    struct pipeline_result *result;
};

static bool keep_task(void *context, struct err *err)
{
    (void)err;
    const struct use *use = context;
    struct err ignored; // without it a later analysis reads the upload again
    if (!keep(use->trace, use->job->trace_path, &ignored))
        log_warn("a trace is not kept for later: %s", ignored.msg);
    return true;
}

// From the trace to its report, and to what identifies it.
static bool analyse_task(void *context, struct err *err)
{
    const struct use *use = context;
    const struct trace *trace = use->trace;
    if (is_cancelled(use->job))
        return err_set(err, ERR_CANCELLED, "cancelled before the analysis");
    use->result->events = trace->event_count;
    use->result->text_bytes = (int64_t)trace->text_bytes;
    return identity_of(trace, use->report->arena, &use->result->identity, err) &&
           analyse_trace(trace, &use->job->options, use->report, err);
}

// Keeps a trace that was just read, beside its analysis where a core is free.
static bool use_trace(struct use *use, bool was_kept, struct err *err)
{
    struct crew_task tasks[] = {{.run = keep_task, .context = use},
                                {.run = analyse_task, .context = use}};
    bool keeps = use->job->trace_path && !was_kept;
    return crew_run(use->job->options.cores, tasks + !keeps, keeps ? 2 : 1, err);
}

bool pipeline_trace(const struct pipeline_job *job, struct report *report,
                    struct pipeline_result *result, struct err *err)
{
    struct budget *budget = report->arena->budget; // one for the trace and its report
    *result = (struct pipeline_result){0};

    int64_t begin_ns = clock_mono_ns();
    struct trace *kept = load_kept(job, budget);
    struct trace *trace = kept ? kept : ingest_file(job->input_path, budget, job->progress, err);
    if (!trace)
        return false;

    int64_t parsed_ns = clock_mono_ns();
    struct use use = {job, trace, report, result};
    bool ok = use_trace(&use, kept != NULL, err);
    result->parse_ns = parsed_ns - begin_ns;
    result->analyse_ns = clock_mono_ns() - parsed_ns;
    result->peak_bytes = budget->peak;
    trace_free(trace);
    return ok;
}

bool pipeline_run(const struct rank_source *ranks, struct report *report, struct err *err)
{
    return ranks->count == 0 || analyse_run(ranks, report, err);
}
