// SPDX-License-Identifier: Apache-2.0
// How far apart two neighboring runs of one series usually are, at most.
#ifndef ANALYSIS_HISTORY_FENCE_H
#define ANALYSIS_HISTORY_FENCE_H

#include <stddef.h>

#define HISTORY_MIN_RUNS 8 // fewer give no fence

// The upper fence of the relative differences between neighbors of a series, oldest first:
// Q3 + HISTORY_FENCE_IQRS x (Q3 - Q1) of |log(next / previous)|, returned as a share: 0.03 means
// that a run 3 % slower or faster than its neighbor is still usual. Values that are not positive
// or not finite are left out. NaN with fewer than HISTORY_MIN_RUNS values left. Of more than
// HISTORY_MAX_RUNS the newest count. At least HISTORY_LEAST_SHARE, and one unit of the last digit
// that the values were printed with. COMPARE.md explains the multiplier.
double history_fence(const double *step_ns, size_t count);

// The difference that one unit of the last digit makes which the values, at least one and all
// positive, were printed with.
double history_printed_share(const double *values, size_t count);

#define HISTORY_FENCE_IQRS  3.0
#define HISTORY_MAX_RUNS    256
#define HISTORY_LEAST_SHARE 0.0005

#endif
