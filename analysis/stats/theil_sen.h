// SPDX-License-Identifier: Apache-2.0
// A line's slope that outliers do not move: the median of the slopes of all pairs of points.
#ifndef ANALYSIS_THEIL_SEN_H
#define ANALYSIS_THEIL_SEN_H

#include "ingest/base/budget.h"

#include <stddef.h>

#define THEIL_SEN_MAX_POINTS 300 // the cost is the square; callers thin out longer series
#define THEIL_SEN_MIN_POINTS 5   // fewer have no interval

struct theil_sen {
    double slope;     // NaN below two points
    bool interval;    // whether there is one
    double low, high; // 95 %
};

// x ascends strictly; count is at most THEIL_SEN_MAX_POINTS.
//
// The slope is the median of the N = n(n-1)/2 slopes (for an even N the mean of the middle two).
// The interval is that of P. K. Sen, "Estimates of the regression coefficient based on Kendall's
// tau", Journal of the American Statistical Association 63 (1968), 1379-1389: with
// V = (n(n-1)(2n+5) - sum of t(t-1)(2t+5) over groups of t equal y) / 18 and C = 1.96 sqrt(V), it
// extends from the slope of rank (N - C)/2 to that of rank (N + C)/2 + 1, in ascending order from
// 1. Ranks are rounded outwards, so the interval covers at least 95 %.
MUST_CHECK bool theil_sen_make(const int64_t *x, const int64_t *y, size_t count,
                               struct budget *budget, struct theil_sen *line, struct err *err);

#endif
