// SPDX-License-Identifier: Apache-2.0
// Reads the ordinary events of a piece of a trace: those that can be understood without what comes
// before or after them. The rest is left to the reader of the whole trace.
#ifndef INGEST_KINETO_PART_H
#define INGEST_KINETO_PART_H

#include "ingest/kineto/kineto_event.h"
#include "ingest/source/split.h"

struct kineto_whole {
    struct kineto_events *events;
    uint64_t *event_count; // items of the event list
};

// A whole is a struct kineto_whole.
extern const struct split_ops kineto_split_ops;

#endif
