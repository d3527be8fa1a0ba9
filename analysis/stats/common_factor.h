// SPDX-License-Identifier: Apache-2.0
// Noise common to all rows of a run: clocks, heat or a busy host make every row slower.
#ifndef ANALYSIS_COMMON_FACTOR_H
#define ANALYSIS_COMMON_FACTOR_H

#include "ingest/base/err.h"

#include <stddef.h>

// With fewer rows the common part cannot be determined: a change in one would be a large part of
// it.
#define COMMON_FACTOR_MIN_ROWS 16

// Logarithms of rows' times, row by row, the base's runs first.
struct log_rows {
    const double *logs;
    const double *variances; // per row, of one run
    size_t count, base_count, cand_count;
};

struct common_factor {
    double share;    // of what runs have in common that counts as shared noise: 0 to 1
    double variance; // from run to run, including the error of its estimate
    double error;    // that error alone
    double shift;    // of all rows together, from base to candidate
    double p_value;  // of that shift, t-test over runs
};

// Sets of_run to what each run's rows have in common, relative to its side's mean: a robust center
// (Tukey's biweight, weighted by the rows' variances) of their deviations, times share. share is
// the part that exceeds the error of such a center: 0 if rows share nothing, and with few rows or
// runs. ERR_MEMORY if memory runs out.
MUST_CHECK bool common_factor_find(const struct log_rows *rows, double *of_run,
                                   struct common_factor *factor, struct err *err);

#endif
