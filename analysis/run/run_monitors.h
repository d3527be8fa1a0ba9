// SPDX-License-Identifier: Apache-2.0
// What monitors recorded of each rank's GPU: which GPU that is, and when the trace was recorded on
// the monitor's clock.
#ifndef ANALYSIS_RUN_MONITORS_H
#define ANALYSIS_RUN_MONITORS_H

#include "analysis/run/run.h"

// Adds rank_monitors and rank_monitor_series, and what is uncertain to the trust report.
MUST_CHECK bool run_join_monitors(const struct run *run, struct err *err);

// Fills the tokens per joule of rank_monitors, given the tokens of a step per GPU.
void run_monitor_tokens(struct report *report, double tokens_per_step_and_gpu);

#endif
