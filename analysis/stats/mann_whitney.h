// SPDX-License-Identifier: Apache-2.0
// The rank test of two samples and the shift between them, with its interval.
#ifndef ANALYSIS_MANN_WHITNEY_H
#define ANALYSIS_MANN_WHITNEY_H

#include "ingest/base/err.h"

#include <stddef.h>

// Distributions are exact as long as the number of all values times that of the smaller side is at
// most this: for any 64 runs. Beyond, they are normal, see COMPARE.md.
#define MANN_WHITNEY_EXACT 2500

struct samples {
    const double *at;
    size_t count;
};

// Two-sided p-value that two samples of finite values come from one distribution: of all ways to
// deal the values to the sides, twice the share whose sum of midranks is as small as the one seen
// or smaller, or as large or larger, whichever are fewer. Equal values share their ranks, the
// distribution stays exact. Beyond the limit above: normal, corrected for ties and continuity. 1
// where a side is empty.
MUST_CHECK bool mann_whitney_test(struct samples a, struct samples b, double *p_value,
                                  struct err *err);

// The smallest p-value that counts of two sides allow: 2 a! b! / (a + b)!, at most 1.
double mann_whitney_least_p(size_t a_count, size_t b_count);

// Shift from a to b (Hodges and Lehmann 1963): the median of the differences b - a of all pairs.
struct shift {
    bool has_interval;
    double median, low, high; // NaN without values; ends only with has_interval
};

// The interval holds the shift with probability 1 - alpha or more: it lasts between the differences
// whose ranks the Mann-Whitney distribution of values without ties gives (Lehmann 1975, 2.6). Too
// few values for alpha: none. ERR_LIMIT when memory is short.
MUST_CHECK bool mann_whitney_shift(struct samples a, struct samples b, double alpha,
                                   struct shift *shift, struct err *err);

#endif
