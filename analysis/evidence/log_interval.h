// SPDX-License-Identifier: Apache-2.0
// NeMo 2 prints means of the steps since the line before, but divides their sum by the usual number
// of steps between two lines, also where there were fewer, after a start, or more, after an epoch.
#ifndef ANALYSIS_EVIDENCE_LOG_INTERVAL_H
#define ANALYSIS_EVIDENCE_LOG_INTERVAL_H

#include "analysis/evidence/log_sequence.h"

// Makes means of such figures again. Consumed samples are left out, as they are half an interval
// behind.
MUST_CHECK bool log_interval_correct(struct log_sequence *sequence, struct arena *arena,
                                     struct err *err);

#endif
