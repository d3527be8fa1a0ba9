// SPDX-License-Identifier: Apache-2.0
// The base and one candidate, the input of each comparison table.
#ifndef ANALYSIS_COMPARE_PAIR_H
#define ANALYSIS_COMPARE_PAIR_H

#include "analysis/compare/compare_pool.h"

struct pair {
    int64_t number; // of the candidate, from 1
    const struct compare_pool *sides[SIDES];
    const struct compare_options *options;
    struct judgement judged; // of the step times; shares and shift refer to the scaled candidate
    int64_t relevant_from_ns;
    struct arena *scratch; // freed with the comparison
    struct report *report;
};

// " per step"; "" where no step of either side is marked, so that times are of all that was
// recorded.
static inline const char *pair_per_step(const struct pair *pair)
{
    return pair->sides[BASE]->no_steps && pair->sides[CAND]->no_steps ? "" : " per step";
}

// Whether one side alone has graphs without their kernels: its work then matches nothing of the
// other's.
static inline bool pair_hides_kernels(const struct pair *pair)
{
    return pair->sides[BASE]->whole_graphs != pair->sides[CAND]->whole_graphs;
}

// Rungs of the matching ladder, strongest first.
enum rung {
    RUNG_MODULE,
    RUNG_SHAPE,
    RUNG_OP,
    RUNG_KERNEL,
    RUNG_CATEGORY,
    RUNG_UNMATCHED,
    RUNG_COUNT
};

// Fills judged and relevant_from_ns (compare_summary.c).
MUST_CHECK bool compare_summary_judge(struct pair *pair, struct err *err);

// Writes compare_summary; matched: device time of both sides per rung, in ns.
MUST_CHECK bool compare_summary_write(const struct pair *pair, const double matched[RUNG_COUNT],
                                      struct err *err);

// Writes the rows of one side's runs; number is 0 for the base.
MUST_CHECK bool compare_runs_write(const struct compare_pool *pool, int64_t number,
                                   struct report *report, struct err *err);

// Each writes the table of its name.
MUST_CHECK bool compare_settings_write(const struct pair *pair, struct err *err);
MUST_CHECK bool compare_modules_write(const struct pair *pair, struct err *err);
MUST_CHECK bool compare_collectives_write(const struct pair *pair, struct err *err);
MUST_CHECK bool compare_ranks_write(const struct pair *pair, struct err *err);
MUST_CHECK bool compare_memory_write(const struct pair *pair, struct err *err);
MUST_CHECK bool compare_findings_write(const struct pair *pair, struct err *err);

// Reads the waterfall, which must be written already.
MUST_CHECK bool compare_parity_write(const struct pair *pair, struct err *err);

// Reads the waterfall, the collectives and the ranks, which must be written already.
MUST_CHECK bool compare_reasons_write(const struct pair *pair, struct err *err);

#endif
