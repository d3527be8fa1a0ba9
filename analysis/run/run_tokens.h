// SPDX-License-Identifier: Apache-2.0
// Tokens since a job started, where its log does not print them.
#ifndef ANALYSIS_RUN_TOKENS_H
#define ANALYSIS_RUN_TOKENS_H

#include "analysis/report/report.h"

// Fills consumed_tokens of log_steps and log_curve: samples times the length of a sequence that
// the settings of any file of the run state. Samples that are not printed are steps times batch.
void run_fill_tokens(struct report *report);

#endif
