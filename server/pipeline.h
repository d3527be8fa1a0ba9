// SPDX-License-Identifier: Apache-2.0
// The whole product: a file becomes a trace, a trace a report, the reports of all ranks a run's
// report. Plain functions that know neither the store nor HTTP.
#ifndef SERVER_PIPELINE_H
#define SERVER_PIPELINE_H

#include "analysis/analysis.h"
#include "ingest/ingest.h"

struct pipeline_job {
    const char *input_path; // what was uploaded, in any known format and compression
    const char *trace_path; // where the sealed trace is kept; NULL: nowhere
    struct analysis_options options;
    struct progress *progress; // NULL is allowed
};

// What the job is known by afterwards, beside the report.
struct pipeline_result {
    struct identity identity; // texts in the report's arena
    int64_t events, text_bytes;
    int64_t parse_ns, analyse_ns; // time taken
    uint64_t peak_bytes;          // of the budget
};

// Makes the report of one trace: reads job->trace_path where a good one is kept, else reads
// job->input_path and keeps the trace. report->arena is set by the caller, with the budget in which
// trace and report are counted.
MUST_CHECK bool pipeline_trace(const struct pipeline_job *job, struct report *report,
                               struct pipeline_result *result, struct err *err);

// Joins the ranks of a run.
MUST_CHECK bool pipeline_run(const struct rank_source *ranks, struct report *report,
                             struct err *err);

#endif
