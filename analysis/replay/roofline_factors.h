// SPDX-License-Identifier: Apache-2.0
// What the peaks of the device would leave of the time of each of its events.
#ifndef ANALYSIS_ROOFLINE_FACTORS_H
#define ANALYSIS_ROOFLINE_FACTORS_H

#include "analysis/facts/facts.h"

// A factor per device event, in arena: 1 where its work is not known.
MUST_CHECK bool roofline_factors(const struct facts *facts, struct arena *arena,
                                 const double **factors, struct err *err);

#endif
