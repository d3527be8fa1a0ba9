// SPDX-License-Identifier: Apache-2.0
// Printed values of a step, checked before they are used in arithmetic.
#ifndef ANALYSIS_EVIDENCE_LOG_VALUES_H
#define ANALYSIS_EVIDENCE_LOG_VALUES_H

#include "ingest/evidence/log_book.h"

#include <math.h>

#define LOG_MOST_WHOLE 9e18 // about the largest int64_t

// Whether the step has the value and it is a valid count or size.
static inline bool log_has_whole(const struct log_step *step, enum log_value value)
{
    double number = step->values[value];
    return log_step_has(step, value) && number >= 0 && number < LOG_MOST_WHOLE;
}

// That count or size, else 0.
static inline int64_t log_whole(const struct log_step *step, enum log_value value)
{
    return log_has_whole(step, value) ? (int64_t)step->values[value] : 0;
}

static inline bool log_has_number(const struct log_step *step, enum log_value value)
{
    return log_step_has(step, value) && isfinite(step->values[value]);
}

#endif
