// SPDX-License-Identifier: Apache-2.0
// Device events by the stream they ran on.
#ifndef ANALYSIS_STREAMS_H
#define ANALYSIS_STREAMS_H

#include "analysis/facts/facts.h"

// The device events of row t of the trace are devices[first[t] .. first[t + 1] - 1], ordered by
// begin.
struct streams {
    uint32_t *devices; // indices into facts.devices
    uint32_t *first;   // rows plus one
};

// Arrays live in arena.
MUST_CHECK bool streams_make(const struct facts *facts, struct arena *arena,
                             struct streams *streams, struct err *err);

// Since when its stream was free, per device event: the latest end of those before it on the
// stream; its own start for the first one. NULL with ERR_LIMIT.
const int64_t *streams_free(const struct facts *facts, const struct streams *streams,
                            struct arena *arena, struct err *err);

#endif
