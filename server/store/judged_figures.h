// SPDX-License-Identifier: Apache-2.0
// The figures of a series' runs that are judged beside step time: MFU, memory, power, loss and
// others, each as its own series.
#ifndef SERVER_JUDGED_FIGURES_H
#define SERVER_JUDGED_FIGURES_H

#include "analysis/run/run_figures.h"
#include "server/store/store_sql.h"

struct judged_figure {
    const struct run_figure *figure;
    struct figure_scale scale;
    struct series_state state; // of the runs that have it
    size_t *at;                // of each of those among all points
    struct series_judgement judgement;
};

struct judged_figures {
    struct judged_figure items[RUN_FIGURE_COUNT];
    size_t count;
    size_t point_count; // of the series
};

// The value by which a figure is judged, and back; scale NULL: it is the same.
double judged_value(const struct figure_scale *scale, double value);

// The index of a run's point, or SERIES_NONE.
size_t judged_point_of(const struct series_state *state, struct str run_id);

// Reads what the points, oldest first, have of each. ERR_LIMIT.
MUST_CHECK bool judged_figures_read(struct db *db, const struct series_key *key,
                                    const struct series_state *points, struct arena *arena,
                                    struct judged_figures *figures, struct err *err);

// NULL if it is not judged.
struct series_state *judged_figure_state(struct judged_figures *figures, struct str metric);

// Judges each. An alert near that of an earlier figure of the same kind (step time comes first)
// says nothing new and is dropped. ERR_LIMIT.
MUST_CHECK bool judged_figures_judge(struct judged_figures *figures,
                                     const struct series_judgement *of_steps, struct arena *arena,
                                     struct err *err);

#endif
