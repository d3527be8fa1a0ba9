// SPDX-License-Identifier: Apache-2.0
// Which of many rows of a comparison differ by more than the noise between runs.
#ifndef ANALYSIS_SIGNIFICANCE_H
#define ANALYSIS_SIGNIFICANCE_H

#include "ingest/base/err.h"

#include <stddef.h>

#define SIGNIFICANCE_MIN_RUNS   3    // per side; with fewer nothing is tested
#define SIGNIFICANCE_CONFIDENCE 0.95 // of the rows' intervals

// Bars are significant at this share of alpha if the step time itself is not: 0.01 for 0.05.
#define SIGNIFICANCE_BARS_ALONE 0.2

// A row's change from base to candidate; NaN if unknown. Shares as in verdict.h.
struct row_test {
    double shift_share; // ratio of the geometric means - 1; also for untested rows, if > 0
    double low_share, high_share; // its interval, for this row alone
    double p_value;               // two-sided, moderated t
    double q_value;               // smallest alpha at which the row is reported
    bool tested;
};

// times holds rows x (base_count + cand_count) values row by row, base's runs first: the row's time
// per step in each run, in ns. A row with any value that is not positive or not finite is not
// tested, and neither is any with fewer than SIGNIFICANCE_MIN_RUNS runs on a side.
//
// Log times. What all rows of a run have in common is removed as noise (common_factor.h), so that a
// row is judged by its change relative to all rows, unless all change together: p <= 0.01 for that
// change, which then stays in each row. A reported row has also changed by itself, in the same
// direction. Each row's variance over runs is moderated by that of all tested rows (G. K. Smyth
// 2004, formulas in COMPARE.md); the p-values are adjusted over them. Shift and interval are the
// row's own change. Pass the rows of one level of one pair in one call: they are the family. Report
// rows only if the step time or a bar is significant, see COMPARE.md.
// ERR_LIMIT if memory runs out.
MUST_CHECK bool significance_rows(const double *times, size_t rows, size_t base_count,
                                  size_t cand_count, struct row_test *tests, struct err *err);

// Replaces p-values by adjusted ones; NaN stays and does not count as a test. Those up to alpha
// are: fewer than ten, of which any is false in at most alpha of cases (S. Holm 1979); or at least
// ten, of which a share of alpha is false on average (Y. Benjamini and Y. Hochberg 1995). ERR_LIMIT
// if memory runs out.
MUST_CHECK bool significance_adjust(double *p_values, size_t count, struct err *err);

#endif
