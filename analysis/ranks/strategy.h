// SPDX-License-Identifier: Apache-2.0
// How a job is split over its ranks, inferred from who communicates what with whom, and when.
#ifndef ANALYSIS_STRATEGY_H
#define ANALYSIS_STRATEGY_H

#include "analysis/ranks/run_comm.h"
#include "analysis/ranks/run_passes.h"

// Adds the tables strategy and pipeline, and sets the dimension that each group of comm shares.
// comm must be solved, passes have the same ranks.
MUST_CHECK bool strategy_add(struct run_comm *comm, const struct run_passes *passes,
                             struct report *report, struct err *err);

#endif
