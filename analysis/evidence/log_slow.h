// SPDX-License-Identifier: Apache-2.0
// Slow steps of a training log, and what the log says around them.
#ifndef ANALYSIS_EVIDENCE_LOG_SLOW_H
#define ANALYSIS_EVIDENCE_LOG_SLOW_H

#include "analysis/evidence/log_sequence.h"
#include "analysis/report/report.h"

// "checkpoint", ...
const char *log_event_word(enum log_event_kind kind);

// Adds log_slow_steps.
MUST_CHECK bool log_slow_add(const struct log_book *book, const struct log_sequence *sequence,
                             struct str file, struct report *report, struct err *err);

#endif
