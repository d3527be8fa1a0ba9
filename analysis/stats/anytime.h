// SPDX-License-Identifier: Apache-2.0
// A sequential test of a shift against a limit: it may be read after every run, and repeated
// reading does not increase its error.
#ifndef ANALYSIS_ANYTIME_H
#define ANALYSIS_ANYTIME_H

#include "analysis/stats/mann_whitney.h"

#define ANYTIME_MOST_PAIRS 100 // most pairs that a forecast looks ahead

enum anytime_result { ANYTIME_UNDECIDED, ANYTIME_BELOW, ANYTIME_ABOVE };

// Evidence is an e-value: if the shift is at the limit or beyond it, it ever reaches 1 / alpha with
// a probability of at most alpha, however often it is read.
struct anytime {
    enum anytime_result result;
    double below_evidence, above_evidence; // that the shift is below, above the limit; NaN: unknown
    bool has_forecast;
    size_t more_pairs; // one run of each side, until a decision is expected; 0 if there is one
};

// Samples are logarithms of step times, and so is the limit. The t-test mixed over shifts beyond
// the limit (M. Lindon, D. W. Ham, M. Tingley and I. Bojinov 2022; formulas in COMPARE.md): normal
// noise of unknown size, one-sided. The forecast assumes that shift and noise stay as they are now.
// With fewer than three runs in total, or none on a side, nothing is known.
struct anytime anytime_judge(struct samples a, struct samples b, double limit, double alpha);

#endif
