// SPDX-License-Identifier: Apache-2.0
// The tables of a diagnosis.
#ifndef ANALYSIS_HANGS_HANG_TABLES_H
#define ANALYSIS_HANGS_HANG_TABLES_H

#include "analysis/hangs/hang_judge.h"
#include "analysis/hangs/hangs.h"

MUST_CHECK bool hang_tables_add(const struct hang_job *job, const struct hang_cases *cases,
                                const struct hangs *hangs, struct report *report, struct err *err);

#endif
