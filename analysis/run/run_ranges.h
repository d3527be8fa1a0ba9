// SPDX-License-Identifier: Apache-2.0
// Named ranges rank by rank, and the ranks of a run within one of them.
#ifndef ANALYSIS_RUN_RANGES_H
#define ANALYSIS_RUN_RANGES_H

#include "analysis/report/report.h"

struct run; // analysis/run/run.h

// Adds rank_ranges: of a rank, from its ranges.
MUST_CHECK bool run_ranges_add(const struct run *run, size_t rank, const struct report *report,
                               struct err *err);

// Adds the table ranks for one range. ranges: the rows of rank_ranges with its name. Parts are per
// step in which it was entered, if there are steps; what is not known of a range is empty.
MUST_CHECK bool run_ranges_view(const struct table *ranges, struct report *report, struct err *err);

#endif
