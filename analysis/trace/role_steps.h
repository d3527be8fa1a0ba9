// SPDX-License-Identifier: Apache-2.0
// What a rank did for each role of a reinforcement learning job.
#ifndef ANALYSIS_ROLE_STEPS_H
#define ANALYSIS_ROLE_STEPS_H

#include "analysis/report/report.h"
#include "analysis/trace/range_tree.h"

// Adds role_steps, if names of ranges say roles. Linear in calls and device events.
MUST_CHECK bool role_steps_add(const struct range_tree *tree, struct report *report,
                               struct err *err);

#endif
