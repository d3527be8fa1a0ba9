// SPDX-License-Identifier: Apache-2.0
// Where the level of a series of runs changed permanently.
#ifndef ANALYSIS_CHANGE_POINTS_H
#define ANALYSIS_CHANGE_POINTS_H

#include "ingest/base/arena.h"

#include <stddef.h>

#define CHANGE_POINTS_MIN_RUNS  3     // per level: a change is reported with its third run
#define CHANGE_POINTS_MIN_SHARE 0.002 // smaller changes of level are not reported
#define CHANGE_POINTS_MAX_RUNS  2048  // of longer series only the newest count

struct change_point {
    size_t at;                  // index of the first run of the new level
    double before_ns, after_ns; // medians of the levels up to the neighboring change points
    double p_value; // Mann-Whitney of those two levels; since they were selected, a measure, not a
                    // guarantee
};

// values are step times of a series, oldest first. Those that are not positive or not finite are
// skipped, but counted by indices. Points ascend by at and live in arena; the same values give the
// same points. The method and its error rates are in COMPARE.md. ERR_LIMIT if memory runs out.
MUST_CHECK bool change_points_find(const double *values, size_t count, struct arena *arena,
                                   struct change_point **points, size_t *found, struct err *err);

#endif
