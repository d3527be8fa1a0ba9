// SPDX-License-Identifier: Apache-2.0
// Values of printed steps that are fit to be counted with.
#ifndef ANALYSIS_EVIDENCE_LOG_VALUES_H
#define ANALYSIS_EVIDENCE_LOG_VALUES_H

#include "ingest/evidence/log_book.h"

#include <math.h>

#define LOG_MOST_WHOLE 9e18 // of an int64_t

// Whether the step has a count or a size that is one.
static inline bool log_has_whole(const struct log_step *step, enum log_value value)
{
    double number = step->values[value];
    return log_step_has(step, value) && number >= 0 && number < LOG_MOST_WHOLE;
}

// It, else 0.
static inline int64_t log_whole(const struct log_step *step, enum log_value value)
{
    return log_has_whole(step, value) ? (int64_t)step->values[value] : 0;
}

static inline bool log_has_number(const struct log_step *step, enum log_value value)
{
    return log_step_has(step, value) && isfinite(step->values[value]);
}

#endif
