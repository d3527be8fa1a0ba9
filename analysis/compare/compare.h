// SPDX-License-Identifier: Apache-2.0
// Compares runs: one base with each of several candidates, every side one run or its repeats.
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include "analysis/report/tables.h"
#include "analysis/stats/verdict.h"

#define COMPARE_MAX_RUNS 64 // of all sides together

struct compare_setting {
    struct str key, value;
};

// Which rank represents a run, and of how many (compare_read.h). number is -1 without results.
struct compare_rank {
    int64_t number, ranks;
};

// One run of a side.
struct compare_run {
    struct str id, name;
    const struct report *run;           // has compare_run_tables
    const struct report *rank;          // of the rank that represents it: compare_rank_tables
    struct compare_rank which;          // that rank
    const struct compare_setting *meta; // entered by people; overrides the trace
    size_t meta_count;
};

// Repeats of one measurement, which weigh the same in all figures.
struct compare_side {
    const struct compare_run *runs;
    size_t run_count;
    size_t copies;          // further runs that have the same files and so do not count
    const int64_t *history; // step medians of earlier runs in the series, oldest first
    size_t history_count;
    struct series_evidence series; // of a candidate: evidence from the series it shares with the
                                   // base
};

struct compare_options {
    bool per_token; // scale candidates to the base's tokens per step
    bool slowest;   // the ranks are the runs' slowest ones; affects only words
    struct verdict_limits limits;
};

// Compares the base with each candidate and writes the tables of compare_tables; their column
// `cand` is the candidate's number, from 1. Reports are borrowed; a missing table counts as empty.
// ERR_USAGE for a side without runs, more than COMPARE_MAX_RUNS runs, and per_token if a side's
// tokens per step are unknown or differ between its runs.
MUST_CHECK bool analyze_compare(const struct compare_side *base, const struct compare_side *cands,
                                size_t cand_count, const struct compare_options *options,
                                struct report *report, struct err *err);

#endif
