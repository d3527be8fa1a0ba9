// SPDX-License-Identifier: Apache-2.0
// What other files than traces say about a run.
#ifndef ANALYSIS_RUN_EVIDENCE_H
#define ANALYSIS_RUN_EVIDENCE_H

#include "analysis/report/rank_source.h"

// Adds the tables of all such files, one after another; their trust reports join the run's.
MUST_CHECK bool run_take_evidence(const struct rank_source *source, struct report *report,
                                  struct err *err);

// The monitors of all such files; NULL if none has any. In the arena.
MUST_CHECK bool run_load_monitors(const struct rank_source *source, struct arena *arena,
                                  const struct table **monitors, struct err *err);

#endif
