// SPDX-License-Identifier: Apache-2.0
// What the profiler itself took of the host's time.
#ifndef ANALYSIS_RECORDING_TIME_H
#define ANALYSIS_RECORDING_TIME_H

#include "analysis/replay/rank_graph.h"

// Fills that per node, at most the node's time; 0 where the profiler's time per operator is not
// known. It lives in arena.
MUST_CHECK bool recording_time(const struct facts *facts, const struct rank_graph *graph,
                               struct arena *arena, int64_t **ns, struct err *err);

#endif
