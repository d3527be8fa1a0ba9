// SPDX-License-Identifier: Apache-2.0
// Splits ranks into those that are alike at the low end and the others.
#ifndef ANALYSIS_RUN_SPLIT_H
#define ANALYSIS_RUN_SPLIT_H

#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How many of the ascending values are alike at the low end: repeatedly drops what is beyond the
// widest gap, as long as that is at least `gap` and no narrower than the range that is kept. Keeps
// at least a quarter, and 2 of 4 or more: a single fast rank makes nobody slow. All if there is no
// such gap.
size_t run_split_low(const double *ascending, size_t count, double gap);

#endif
