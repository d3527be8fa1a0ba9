// SPDX-License-Identifier: Apache-2.0
// Events from rows.
#ifndef INGEST_SQLITE_EVENT_ROWS_H
#define INGEST_SQLITE_EVENT_ROWS_H

#include "ingest/trace/trace_builder.h"

// An event with nothing given but its kind.
struct event_record event_row(enum event_kind kind);

// Sets its times, of which any may be VALUE_ABSENT or nonsense: false, and counted, if they cannot
// be used.
bool event_row_times(struct trace_builder *builder, struct event_record *record, int64_t start_ns,
                     int64_t end_ns);

#endif
