// SPDX-License-Identifier: Apache-2.0
// A sequential test of a shift against a limit: it may be read after every run, and its error does
// not grow with the readings.
#ifndef ANALYSIS_ANYTIME_H
#define ANALYSIS_ANYTIME_H

#include "analysis/stats/mann_whitney.h"

#define ANYTIME_MOST_PAIRS 100 // that a forecast looks ahead

enum anytime_result { ANYTIME_UNDECIDED, ANYTIME_BELOW, ANYTIME_ABOVE };

// Evidence is an e-value: where the shift is at the limit or beyond it, it ever reaches 1 / alpha
// with a probability of at most alpha, however often it is looked at.
struct anytime {
    enum anytime_result result;
    double below_evidence, above_evidence; // that the shift is below, above the limit; NaN unknown
    bool has_forecast;
    size_t more_pairs; // one run of each side, until it is expected to decide; 0 where it has
};

// Samples are logarithms of step times, the limit one of the shift. The t-test mixed over shifts
// beyond the limit (M. Lindon, D. W. Ham, M. Tingley and I. Bojinov 2022; formulas in COMPARE.md):
// normal noise of an unknown size, one-sided. The forecast takes shift and noise for what they are
// now. Fewer than three runs in all, or a side without any: nothing is known.
struct anytime anytime_judge(struct samples a, struct samples b, double limit, double alpha);

#endif
