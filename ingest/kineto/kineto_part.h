// SPDX-License-Identifier: Apache-2.0
// Reads the ordinary events of a piece of a trace: those that can be understood without what comes
// before or after them. The rest is left to the reader of the whole trace.
#ifndef INGEST_KINETO_PART_H
#define INGEST_KINETO_PART_H

#include "ingest/source/split.h"
#include "ingest/trace/trace_builder.h"

struct kineto_whole {
    struct trace_builder *builder;
    uint64_t *event_count;   // items of the event list
    uint64_t *defined_count; // events among them
};

// A whole is a struct kineto_whole.
extern const struct split_ops kineto_split_ops;

#endif
