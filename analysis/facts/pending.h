// SPDX-License-Identifier: Apache-2.0
// What was launched and had not begun: what proves that a device without an event had work to do.
#ifndef ANALYSIS_PENDING_H
#define ANALYSIS_PENDING_H

#include "analysis/facts/stream_waits.h"

#define PENDING_UNKNOWN INT64_MAX

struct pending {
    int64_t since_ns;
    bool held; // behind a wait for the host or another process: what is launched later may wait too
};

// Per device event the moment from which nothing on the host held it any more: its launch had
// returned, and the least delay of launches around it was over, which is what starting takes and by
// how much the device's clock may be late. An event launched before the recording stood launched
// when its first call began. PENDING_UNKNOWN where that is not certain: no launch, or an event that
// was launched later ran before on the same stream. The array lives in arena. Linear.
MUST_CHECK bool pending_make(const struct facts *facts, const struct stream_waits *waits,
                             struct arena *arena, struct pending **pending, struct err *err);

#endif
