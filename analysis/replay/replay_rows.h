// SPDX-License-Identifier: Apache-2.0
// What a replay adds to the report of a trace.
#ifndef ANALYSIS_REPLAY_ROWS_H
#define ANALYSIS_REPLAY_ROWS_H

#include "analysis/replay/whatif.h"

// Adds the tables of the replay, which stays for others; it lives in arena. A trace that cannot be
// replayed has none, and is refused.
MUST_CHECK bool replay_of_trace(const struct facts *facts, struct arena *arena,
                                struct whatif *whatif, struct report *report, struct err *err);

#endif
