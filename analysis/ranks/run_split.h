// SPDX-License-Identifier: Apache-2.0
// Parts ranks into those that are alike at the low end and the others.
#ifndef ANALYSIS_RUN_SPLIT_H
#define ANALYSIS_RUN_SPLIT_H

#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many of the ascending values are alike at the low end: again and again what lies beyond the
// widest gap is left out, as long as that is `gap` or more and no narrower than what is kept is
// wide. At least a quarter is kept, and 2 of 4 or more: a single fast rank makes nobody slow. All
// when there is no such gap.
size_t run_split_low(const double *ascending, size_t count, double gap);

#endif
