// SPDX-License-Identifier: Apache-2.0
// What a step gains when a finding's time goes away: its bound, replayed.
#ifndef ANALYSIS_FINDING_GAIN_H
#define ANALYSIS_FINDING_GAIN_H

#include "analysis/findings/findings.h"

// For finding_simulator, of a struct whatif. Not known where the replay is refused, or where too
// much of the time belongs to no work that could get shorter, such as idle time by a data loader.
MUST_CHECK bool finding_gain(const void *whatif, const struct finding_case *the_case,
                             const struct finding *finding, bool *known, int64_t *gain_ns,
                             struct err *err);

#endif
