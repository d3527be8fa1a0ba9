// SPDX-License-Identifier: Apache-2.0
// What another run's kernels would make of the time of each device event.
#ifndef ANALYSIS_COUNTERPART_FACTORS_H
#define ANALYSIS_COUNTERPART_FACTORS_H

#include "analysis/facts/facts.h"
#include "analysis/report/report.h"

#define COUNTERPART_NONE (-1.0)

// A factor per device event, in arena: the mean time of a call of the same operator with the same
// shapes and types in the other run's roofline over that here. COUNTERPART_NONE without one.
MUST_CHECK bool counterpart_factors(const struct facts *facts, const struct table *roofline,
                                    struct arena *arena, const double **factors, struct err *err);

#endif
