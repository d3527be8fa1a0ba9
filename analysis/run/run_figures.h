// SPDX-License-Identifier: Apache-2.0
// The figures by which runs are listed, sorted, compared and reported, from whatever was uploaded:
// the training log, the trace, or both.
#ifndef ANALYSIS_RUN_FIGURES_H
#define ANALYSIS_RUN_FIGURES_H

#include "analysis/report/rank_source.h"

enum run_figure_id {
    RUN_FIGURE_STEP,
    RUN_FIGURE_TOKENS,
    RUN_FIGURE_TOKENS_OF_GPU,
    RUN_FIGURE_SAMPLES,
    RUN_FIGURE_TFLOPS,
    RUN_FIGURE_MFU,
    RUN_FIGURE_HFU,
    RUN_FIGURE_GEMM,
    RUN_FIGURE_GEMM_SHARE,
    RUN_FIGURE_ATTENTION,
    RUN_FIGURE_ATTENTION_SHARE,
    RUN_FIGURE_BUSY,
    RUN_FIGURE_IDLE,
    RUN_FIGURE_COMM,
    RUN_FIGURE_EXPOSED_COMM,
    RUN_FIGURE_OVERLAP,
    RUN_FIGURE_MEMORY,
    RUN_FIGURE_MEMORY_SHARE,
    RUN_FIGURE_POWER,
    RUN_FIGURE_ENERGY,
    RUN_FIGURE_TOKENS_OF_JOULE,
    RUN_FIGURE_COST,
    RUN_FIGURE_LOSS,
    RUN_FIGURE_LOWEST_LOSS,
    RUN_FIGURE_COUNT
};

#define RUN_FIGURE_COST_METRIC "cost_per_million_tokens"

// What a figure depends on: of figures of one kind that change together the first raises an alert.
enum run_figure_kind {
    FIGURE_FOLLOWS, // from others, which are watched instead
    FIGURE_OF_TIME,
    FIGURE_OF_MEMORY,
    FIGURE_OF_POWER,
    FIGURE_OF_LOSS
};

struct run_figure {
    const char *metric; // stable name
    const char *label;  // for people
    const char *unit;
    const char *help;
    bool more_is_better;
    enum run_figure_kind kind;
};

// In the order in which tables show them.
extern const struct run_figure run_figures[RUN_FIGURE_COUNT];

// The figure of that name, or NULL.
const struct run_figure *run_figure_named(struct str metric);

// Adds the table figures, from the run's other tables and those of its ranks.
MUST_CHECK bool run_add_figures(const struct rank_source *source, struct report *report,
                                struct err *err);

#endif
