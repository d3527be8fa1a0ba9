// SPDX-License-Identifier: Apache-2.0
// Who a trace is: rank, size of the job, name of the device.
#ifndef ANALYSIS_IDENTITY_H
#define ANALYSIS_IDENTITY_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

struct identity {
    int64_t rank, world_size; // -1 when the file does not say
    struct str gpu;           // name of the device, "" when unknown
};

// Reads identity from the trace's metadata. Texts live in arena.
MUST_CHECK bool identity_of(const struct trace *trace, struct arena *arena,
                            struct identity *identity, struct err *err);

#endif
