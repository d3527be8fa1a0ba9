// SPDX-License-Identifier: Apache-2.0
// The host's part of the trust report.
#ifndef ANALYSIS_TRUST_HOST_H
#define ANALYSIS_TRUST_HOST_H

#include "analysis/facts/facts.h"
#include "analysis/report/trust.h"

// The lines on launches, clocks and the profiler's own cost.
MUST_CHECK bool doubts_add_host(const struct facts *facts, struct report *report, struct err *err);

// The lines on steps that are longer than those before the recording, and on what the profiler
// reported.
MUST_CHECK bool doubts_add_recorded(const struct facts *facts, struct report *report,
                                    struct err *err);

#endif
