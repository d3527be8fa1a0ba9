// SPDX-License-Identifier: Apache-2.0
// Device events by the stream they ran on.
#ifndef ANALYSIS_STREAMS_H
#define ANALYSIS_STREAMS_H

#include "analysis/facts/facts.h"

// Those of row t of the trace are devices[first[t] .. first[t + 1] - 1], ordered by begin.
struct streams {
    uint32_t *devices; // indices into facts.devices
    uint32_t *first;   // rows plus one
};

// Arrays live in arena.
MUST_CHECK bool streams_make(const struct facts *facts, struct arena *arena,
                             struct streams *streams, struct err *err);

#endif
