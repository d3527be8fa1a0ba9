// SPDX-License-Identifier: Apache-2.0
// The whole product: a file becomes a trace, a trace a report, the reports of all ranks a run's
// report. Plain functions that know neither the store nor HTTP, and open nothing.
#ifndef SERVER_PIPELINE_H
#define SERVER_PIPELINE_H

#include "analysis/analysis.h"
#include "ingest/ingest.h"

// Descriptors of a job; -1 if there is none. The input remains the caller's, the others are closed.
struct pipeline_files {
    int input; // what was uploaded, in any known format and compression
    int kept;  // the sealed trace kept by an earlier job
    int keep;  // an empty file in which to keep the sealed trace
};

struct pipeline_job {
    struct analysis_options options;
    struct progress *progress; // NULL is allowed
    int64_t process;           // of pipeline_trace: which of the file's; FORMAT_WHOLE: the only one
    const int *keep;           // of pipeline_opened: as pipeline_files.keep; NULL: none
};

// What identifies the job's result, besides the report.
struct pipeline_result {
    struct identity identity; // texts in the report's arena
    int64_t events, text_bytes;
    int64_t parse_ns, analyze_ns; // time taken
    uint64_t peak_bytes;          // of the budget
    bool kept;                    // the trace is in files->keep, flushed to disk
};

// Makes the report of one trace: reads files->kept if it is good, otherwise reads files->input and
// keeps the trace. report->arena is set by the caller, with the budget for trace and report.
MUST_CHECK bool pipeline_trace(const struct pipeline_files *files, const struct pipeline_job *job,
                               struct report *report, struct pipeline_result *result,
                               struct err *err);

// Same for a named file, keeping nothing.
MUST_CHECK bool pipeline_file(const char *path, const struct pipeline_job *job,
                              struct report *report, struct pipeline_result *result,
                              struct err *err);

// Same for a source opened by format_open, which is closed.
MUST_CHECK bool pipeline_opened(struct source *source, const struct format_found *found,
                                const struct pipeline_job *job, struct report *report,
                                struct pipeline_result *result, struct err *err);

// Joins the ranks of a run.
MUST_CHECK bool pipeline_run(const struct rank_source *ranks, struct report *report,
                             struct err *err);

// Makes the report of a file that is no trace but says something about a run; filename: its name,
// in the rows. files->keep is scratch. All is counted in the budget of the report's arena.
MUST_CHECK bool pipeline_evidence(const struct pipeline_files *files, struct str filename,
                                  struct progress *progress, struct report *report,
                                  struct err *err);

#endif
