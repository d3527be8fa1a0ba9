// SPDX-License-Identifier: Apache-2.0
// The identity of a trace: rank, world size, device name.
#ifndef ANALYSIS_IDENTITY_H
#define ANALYSIS_IDENTITY_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

struct identity {
    int64_t rank, world_size; // -1 if not in the file
    struct str gpu;           // name of the device, "" if unknown
};

// Texts live in arena.
MUST_CHECK bool identity_of(const struct trace *trace, struct arena *arena,
                            struct identity *identity, struct err *err);

#endif
