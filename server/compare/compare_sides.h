// SPDX-License-Identifier: Apache-2.0
// What a request asks to compare: the runs of a base and of up to eight candidates, found by their
// keys, and the choices that affect the result.
#ifndef SERVER_COMPARE_SIDES_H
#define SERVER_COMPARE_SIDES_H

#include "analysis/compare/compare.h"
#include "server/base/services.h"
#include "server/care/intake.h"
#include "server/http/response.h"
#include "server/store/store_tracking.h"

#define COMPARE_MAX_CANDIDATES 8
#define COMPARE_SERIES_RUNS    32 // newest runs that NAME@* stands for, and that count as history

// Runs of one side: repeats of one measurement, in the order of the key.
struct compared_side {
    struct run *runs;
    size_t count;
    size_t copies; // further runs with the same files, which do not count
};

struct compared {
    struct compared_side sides[1 + COMPARE_MAX_CANDIDATES]; // the base, then the candidates
    size_t side_count;
    struct series_key *base_series; // that the base names by NAME@*
    size_t base_series_count;
    const char *base_note; // which of their runs the base is, in words; NULL: all
    struct compare_options options;
    bool settings_only; // of runs that may have no trace
    int64_t *history;   // step medians of the base's series up to the base, oldest first
    size_t history_count;
    struct series_evidence series[1 + COMPARE_MAX_CANDIDATES]; // of candidates, single runs
};

// The parameters read by compare_sides_find, NULL-terminated; and `only`, which tables read.
extern const char *const compare_sides_parameters[];

// Reads base=KEY[,KEY...], cand= (same, repeatable), per, rank, alpha, relevant_share and
// relevant_ns, and finds all runs. A key names a run as everywhere (a whole value that names one is
// not split at its commas); NAME@* stands for the newest runs of that series that were or are being
// analyzed, as a base for those of them that are like its newest run and of its level (of the
// figure that a gate's metric= names). ERR_USAGE, ERR_NOT_FOUND, ERR_CONFLICT as for one run.
MUST_CHECK bool compare_sides_find(struct request *request, struct response *response,
                                   struct compared *compared, struct err *err);

// Reads side=KEY[,KEY...] (repeatable, under any name) instead, at least one, for those that show
// more than comparisons. Nothing else is read: options are the defaults.
MUST_CHECK bool compare_sides_read(struct request *request, struct response *response,
                                   const char *name, struct compared *compared, struct err *err);

// Finds the evidence of earlier runs for sides that were chosen otherwise.
MUST_CHECK bool compare_sides_judge(struct request *request, struct compared *compared,
                                    struct err *err);

// Whether a page's address has base=KEY and cand=KEY that cannot be compared: a run is unknown or
// has no trace. What is in its query otherwise does not matter.
bool compare_sides_lack_traces(struct request *request);

// Changes whenever the result may: runs, their revisions, history, and the query's text.
uint64_t compare_sides_hash(const struct request *request, const struct compared *compared);

// The runs, loaded and compared.
struct comparison {
    struct compare_side sides[1 + COMPARE_MAX_CANDIDATES]; // as in struct compared
    struct report report;                                  // compare_tables
};

// Loads the runs and compares them when its turn comes. The report lives in the request's arena;
// the sides' tables are freed. Refuses with 409 and the word not-analyzed if a run has no results
// yet.
MUST_CHECK bool compare_sides_analyze(struct request *request, struct response *response,
                                      const struct compared *compared,
                                      struct comparison *comparison, struct err *err);

#endif
