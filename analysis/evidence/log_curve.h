// SPDX-License-Identifier: Apache-2.0
// The steps of a training log in few enough rows to draw them.
#ifndef ANALYSIS_EVIDENCE_LOG_CURVE_H
#define ANALYSIS_EVIDENCE_LOG_CURVE_H

#include "analysis/evidence/log_sequence.h"
#include "analysis/report/report.h"

// Most rows of a log; each restart may add one, unless there are more restarts than this.
enum { LOG_CURVE_ROWS = 1000 };

// Adds log_curve.
MUST_CHECK bool log_curve_add(const struct log_sequence *sequence, struct str file,
                              struct report *report, struct err *err);

#endif
