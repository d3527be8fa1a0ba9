// SPDX-License-Identifier: Apache-2.0
// The analyses: pure functions of a sealed trace, or of the reports of all ranks of a run.
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include "analysis/rank_source.h"
#include "analysis/report.h"
#include "ingest/base/cores.h"
#include "ingest/trace/trace.h"

// Raised whenever any figure or table changes meaning; results with a lower one are made anew.
#define ANALYSIS_VERSION 8

struct peaks; // what devices can do: analysis/peaks.h
struct facts; // what several analyses need, worked out once: analysis/facts.h

// One analysis of one trace. It reads the trace and the facts and adds rows to the report.
struct analysis {
    const char *name;
    bool (*run)(const struct facts *facts, struct report *report, struct err *err);
};

// Choices of the user that change numbers, which are part of the result's identity; and who may
// help, which changes none.
struct analysis_options {
    const char *step_pattern;  // annotation that marks a step, NULL for the defaults
    int warmup_steps;          // steps to leave out at the begin, -1 for the rule of analysis.md 3
    const struct peaks *peaks; // rows that go before those built in, NULL: none
    int64_t tokens_per_step;   // over all ranks, 0: not known
    struct cores *cores;       // whose free ones may help; NULL: all on the calling thread
};

// Who the trace is, as far as it says so itself.
struct identity {
    int64_t rank, world_size; // -1 when the file does not say
    struct str gpu;           // name of the device, "" when unknown
};

// Reads identity from the trace's metadata. Texts live in arena.
MUST_CHECK bool identity_of(const struct trace *trace, struct arena *arena,
                            struct identity *identity, struct err *err);

// Runs all analyses of the table in analyses.c over one trace.
MUST_CHECK bool analyse_trace(const struct trace *trace, const struct analysis_options *options,
                              struct report *report, struct err *err);

// Joins the ranks of a run into the run's tables. What it needs on the way is counted in the budget
// of the report's arena, if that has one; it grows with the rows of the result, and by some 100
// bytes per collective call, not with what the ranks' tables hold.
MUST_CHECK bool analyse_run(const struct rank_source *source, struct report *report,
                            struct err *err);

// The same of reports that are all there, ascending by rank.
MUST_CHECK bool analyse_reports(const struct rank_report *ranks, size_t count,
                                struct report *report, struct err *err);

// NULL-terminated lists of the tables that analyse_trace and analyse_run may write.
extern const struct table_desc *const trace_tables[];
extern const struct table_desc *const run_tables[];

#endif
