// SPDX-License-Identifier: Apache-2.0
// The context of some host events: operator, annotation and Python frame, looked up for all of them
// at once.
#ifndef ANALYSIS_HOST_PLACES_H
#define ANALYSIS_HOST_PLACES_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

struct host_place {
    uint32_t event;           // index into the columns
    uint32_t op, note, frame; // innermost around it, including itself, or FACTS_NONE
};

// Fills op, note and frame; events on rows without a thread have none. Linear in the rows involved.
MUST_CHECK bool host_places_fill(const struct trace *trace, struct host_place *places,
                                 uint32_t count, struct err *err);

#endif
