// SPDX-License-Identifier: Apache-2.0
// A run replayed with an instantaneous network.
#ifndef ANALYSIS_RUN_REPLAY_H
#define ANALYSIS_RUN_REPLAY_H

#include "analysis/ranks/run_comm.h"

// By how much each rank's steady steps would be shorter in total. O(n log ranks) in calls.
MUST_CHECK bool run_replay(const struct run_comm *comm, int64_t *saved_ns, struct err *err);

#endif
