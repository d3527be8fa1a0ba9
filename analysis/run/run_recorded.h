// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYSIS_RUN_RECORDED_H
#define ANALYSIS_RUN_RECORDED_H

#include "analysis/report/report.h"

// Adds a row to the trust report of the run if the steps of its trace are longer than those of a
// log: what recording costs. Reads the tables summary and logs.
MUST_CHECK bool run_judge_recorded(struct report *report, struct err *err);

#endif
