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

// The listed device that represents the trace: on CUDA the one that all work but copies ran on,
// else the first with a name, else the first. NULL if none is listed.
const struct trace_device *identity_device(const struct trace *trace);

// Texts live in arena. The name of a partition says how many compute units it has.
MUST_CHECK bool identity_of(const struct trace *trace, struct arena *arena,
                            struct identity *identity, struct err *err);

#endif
