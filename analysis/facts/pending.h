// SPDX-License-Identifier: Apache-2.0
// What was launched and had not started: proof that a device without an event had work to do.
#ifndef ANALYSIS_PENDING_H
#define ANALYSIS_PENDING_H

#include "analysis/facts/stream_waits.h"

#define PENDING_UNKNOWN INT64_MAX

struct pending {
    int64_t since_ns;
    bool held; // behind a wait for the host or another process: later launches may wait, too
};

// Per device event the moment from which nothing on the host held it up any more: its launch had
// returned, and the minimum delay of nearby launches had passed, which covers startup and a late
// device clock. An event launched before the recording counts as pending from the recording's first
// call. PENDING_UNKNOWN if uncertain: no launch, or an event launched later ran earlier on the same
// stream. The array lives in arena. Linear.
MUST_CHECK bool pending_make(const struct facts *facts, const struct stream_waits *waits,
                             struct arena *arena, struct pending **pending, struct err *err);

#endif
