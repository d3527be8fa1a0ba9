// SPDX-License-Identifier: Apache-2.0
// The steps' part of the trust report.
#ifndef ANALYSIS_TRUST_STEPS_H
#define ANALYSIS_TRUST_STEPS_H

#include "analysis/facts/facts.h"
#include "analysis/report/trust.h"

// The lines on marks, on what steps contain, and on what lies outside of them.
MUST_CHECK bool doubts_add_steps(const struct facts *facts, struct arena *scratch,
                                 struct report *report, struct err *err);

#endif
