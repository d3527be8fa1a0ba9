// SPDX-License-Identifier: Apache-2.0
// The ranks of a run and their tables, of which only a few are in memory at a time.
#ifndef ANALYSIS_RANK_SOURCE_H
#define ANALYSIS_RANK_SOURCE_H

#include "analysis/report/report.h"
#include "ingest/base/cores.h"

struct peaks; // device limits: analysis/names/peaks.h

struct rank_source {
    const int64_t *ranks;    // ascending
    const struct str *roles; // of each, "" unknown; NULL: of none
    const bool *by_order;    // of each, whether it has its number by its place; NULL: none
    size_t count;
    void *context; // of load
    // Adds to the report those tables of `known` (NULL-terminated, of run_rank_tables) that the
    // rank has; rows live as long as the report's arena and the source. May be called for several
    // ranks at once, each with a separate report.
    bool (*load)(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err);
    struct cores *cores; // whose free ones may help; NULL: all on the calling thread
    // Other files that say something about the run, with the tables of evidence_tables: load gives
    // them at the indices after those of the ranks.
    size_t evidence_count;
    const struct peaks *peaks; // the user's, for figures that follow from logs; NULL: none
};

// One rank's report within a run.
struct rank_report {
    int64_t rank;
    const struct report *report;
};

// A source of reports that are all in memory. They must outlive it; it is allocated in arena.
MUST_CHECK bool rank_source_of(const struct rank_report *ranks, size_t count, struct arena *arena,
                               struct rank_source *source, struct err *err);

// Called with the tables of one rank. The report is freed when it returns.
typedef bool rank_take(void *context, size_t index, const struct report *report, struct err *err);

// Calls take with the tables `known` of every rank, in order, on the calling thread. Some are
// loaded ahead if cores are free; their memory counts in the budget.
MUST_CHECK bool rank_source_each(const struct rank_source *source,
                                 const struct table_desc *const *known, struct budget *budget,
                                 rank_take *take, void *context, struct err *err);

#endif
