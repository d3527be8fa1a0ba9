// SPDX-License-Identifier: Apache-2.0
// Event records, as readers add them to a trace.
#ifndef INGEST_TRACE_EVENT_RECORD_H
#define INGEST_TRACE_EVENT_RECORD_H

#include "ingest/trace/trace_builder.h"

// An event of that kind with all else absent.
struct event_record event_record_of(enum event_kind kind);

// Sets the times of an event; either may be VALUE_ABSENT or out of range. False if they cannot be
// used; that and a negative duration count as repairs. pos: as in trace_builder_repair.
bool event_record_times(struct trace_builder *builder, struct event_record *record,
                        int64_t start_ns, int64_t end_ns, uint64_t pos);

#endif
