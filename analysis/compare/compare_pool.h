// SPDX-License-Identifier: Apache-2.0
// One side of a comparison: the figures of its runs, and pooled ones.
#ifndef ANALYSIS_COMPARE_POOL_H
#define ANALYSIS_COMPARE_POOL_H

#include "analysis/compare/compare.h"
#include "analysis/names/parts.h"

enum { BASE, CAND, SIDES };

// One run, from its rank's tables.
struct pool_run {
    const struct compare_run *from;
    const struct table *parts;     // NULL without
    struct parts total;            // over the steady steps
    int64_t calls;                 // over the steady steps
    int64_t steps;                 // steady ones
    int64_t median_ns;             // -1 without steps
    int64_t ci_low_ns, ci_high_ns; // -1 without
};

// Times of the side are multiplied by to / from, in tokens; both are 1 without scaling.
struct pool_scale {
    int64_t to, from;
};

struct compare_pool {
    const struct compare_side *side;
    struct pool_run *runs;
    size_t count;
    int64_t steps;             // steady ones of all runs
    int64_t each_steps;        // that each run counts as: the most of a run
    int64_t weighed_steps;     // of all runs together, if each has that many
    bool no_steps;             // none is marked: all that its runs recorded counts as one
    bool whole_graphs;         // a run has CUDA graphs without their kernels, and they matter
    bool missed_steps;         // a run has no annotation that matches the requested step pattern
    int64_t tokens;            // per step; 0 if unknown or different between runs
    struct pool_scale scale;   // of the figures below
    int64_t step_ns;           // lower median of the runs' medians, -1 without steps
    int64_t mean_ns;           // of the runs' mean steps
    int64_t bar_ns[BAR_COUNT]; // per step; sum to mean_ns exactly
};

// Reads a side's runs; the runs of the result live in arena. ERR_FORMAT if a table has times that
// no analysis writes: negative, or more than years.
MUST_CHECK bool compare_pool_make(const struct compare_side *side, struct arena *arena,
                                  struct compare_pool *pool, struct err *err);

// Scales the candidate to the base's tokens per step. ERR_USAGE if either is unknown.
MUST_CHECK bool compare_pool_scale(const struct compare_pool *base, struct compare_pool *cand,
                                   struct err *err);

// A sum over a run's steady steps as it would be with each_steps of them: so all runs of a side
// weigh the same. Unchanged where all have as many.
int64_t compare_pool_weighed(const struct compare_pool *pool, const struct pool_run *run,
                             int64_t sum);

// Scales one time like the figures of a step; -1 stays.
int64_t compare_pool_scaled(const struct compare_pool *pool, int64_t ns);

// The factor by which times are multiplied.
double compare_pool_factor(const struct compare_pool *pool);

// Rows of a table in all runs of a side: from the runs' own tables, or from those of the ranks that
// represent them.
size_t compare_side_rows(const struct compare_side *side, bool of_rank, const char *table);

// A setting of a run: as people entered it, else from the trace (most ranks); "" if unknown.
struct str compare_pool_setting(const struct compare_run *run, struct str key);

// Lower median; sorts the values. count is 1 or more.
int64_t compare_pool_median(int64_t *values, size_t count);

#endif
