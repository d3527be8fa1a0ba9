// SPDX-License-Identifier: Apache-2.0
// The rank test of two samples and the shift between them, with its interval.
#ifndef ANALYSIS_MANN_WHITNEY_H
#define ANALYSIS_MANN_WHITNEY_H

#include "ingest/base/err.h"

#include <stddef.h>

// Distributions are exact while the number of all values times that of the smaller side is at most
// this: for any 64 runs. Beyond that they are normal, see COMPARE.md.
#define MANN_WHITNEY_EXACT 2500

struct samples {
    const double *at;
    size_t count;
};

// Two-sided p-value that two samples of finite values come from one distribution: of all ways to
// deal the values to the sides, twice the share with a sum of midranks at most, or at least, as
// large as the observed one, whichever is smaller. Equal values share their ranks; the distribution
// stays exact. Beyond the limit above: normal, corrected for ties and continuity. 1 if a side is
// empty.
MUST_CHECK bool mann_whitney_test(struct samples a, struct samples b, double *p_value,
                                  struct err *err);

// The smallest p-value possible with the counts of two sides: 2 a! b! / (a + b)!, at most 1.
double mann_whitney_least_p(size_t a_count, size_t b_count);

// Shift from a to b (Hodges and Lehmann 1963): the median of the differences b - a of all pairs.
struct shift {
    bool has_interval;
    double median, low, high; // NaN without values; ends only with has_interval
};

// The interval contains the shift with probability 1 - alpha or more: it extends between the
// differences whose ranks are given by the Mann-Whitney distribution without ties (Lehmann 1975,
// 2.6). Too few values for alpha: none. ERR_LIMIT if memory runs out.
MUST_CHECK bool mann_whitney_shift(struct samples a, struct samples b, double alpha,
                                   struct shift *shift, struct err *err);

#endif
