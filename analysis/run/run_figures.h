// SPDX-License-Identifier: Apache-2.0
// The figures by which runs are listed, sorted, compared and reported, out of whatever was
// uploaded: the training log, the trace, or both.
#ifndef ANALYSIS_RUN_FIGURES_H
#define ANALYSIS_RUN_FIGURES_H

#include "analysis/report/rank_source.h"

struct run_figure {
    const char *metric; // stable name
    const char *unit;
    const char *help;
};

// In the order in which tables show them.
extern const struct run_figure run_figures[];
extern const size_t run_figure_count;

// The figure of that name, or NULL.
const struct run_figure *run_figure_named(struct str metric);

// Adds the table figures, from the run's other tables and those of its ranks.
MUST_CHECK bool run_add_figures(const struct rank_source *source, struct report *report,
                                struct err *err);

#endif
