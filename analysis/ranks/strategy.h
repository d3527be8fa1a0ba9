// SPDX-License-Identifier: Apache-2.0
// How a job is spread over its ranks, told from who talks to whom about what, and when.
#ifndef ANALYSIS_STRATEGY_H
#define ANALYSIS_STRATEGY_H

#include "analysis/ranks/run_comm.h"
#include "analysis/ranks/run_passes.h"

// Adds the tables strategy and pipeline, and tells each group of comm the dimension that it shares.
// comm is solved, passes hold the same ranks.
MUST_CHECK bool strategy_add(struct run_comm *comm, const struct run_passes *passes,
                             struct report *report, struct err *err);

#endif
