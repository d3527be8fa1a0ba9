// SPDX-License-Identifier: Apache-2.0
// The analyses: pure functions of a sealed trace, or of the reports of all ranks of a run.
#ifndef ANALYSIS_ANALYSIS_H
#define ANALYSIS_ANALYSIS_H

#include "analysis/facts/analysis_options.h"
#include "analysis/facts/identity.h"
#include "analysis/report/rank_source.h"
#include "analysis/report/tables.h"

// Raised whenever a figure or table changes meaning; results with a lower version are recomputed.
#define ANALYSIS_VERSION 27

// Runs all analyses of the table in analyses.c over one trace.
MUST_CHECK bool analyze_trace(const struct trace *trace, const struct analysis_options *options,
                              struct report *report, struct err *err);

// Joins the ranks of a run into the run's tables. Working memory is counted in the budget of the
// report's arena, if it has one; it grows with the rows of the result, and by about 100 bytes per
// collective call, not with the size of the ranks' tables.
MUST_CHECK bool analyze_run(const struct rank_source *source, struct report *report,
                            struct err *err);

// Same for reports that are all in memory, ascending by rank.
MUST_CHECK bool analyze_reports(const struct rank_report *ranks, size_t count,
                                struct report *report, struct err *err);

#endif
