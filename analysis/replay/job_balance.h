// SPDX-License-Identifier: Apache-2.0
// No rank has more to do than the median of its peers.
#ifndef ANALYSIS_JOB_BALANCE_H
#define ANALYSIS_JOB_BALANCE_H

#include "analysis/replay/job_replay.h"

// Shortens the times of the ranks' nodes, where a rank has more to do than its peers.
MUST_CHECK bool job_balance(const struct job_replay *job, const struct change_list *list,
                            int64_t *dur, struct arena *scratch, struct err *err);

#endif
