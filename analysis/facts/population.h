// SPDX-License-Identifier: Apache-2.0
// Which device events count: quarantine of impossible times, clipping of overruns, the window.
#ifndef ANALYSIS_POPULATION_H
#define ANALYSIS_POPULATION_H

#include "analysis/facts/facts.h"

// An event that exceeds the start of the next one on its stream by more than this is clipped there.
#define POPULATION_CLIP_NS INT64_C(100000)

// Fills devices, window, streams, gpus and quarantine of facts.
MUST_CHECK bool population_make(struct facts *facts, struct err *err);

#endif
