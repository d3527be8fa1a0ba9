// SPDX-License-Identifier: Apache-2.0
// One event of a Kineto or Chrome trace: from JSON text to a record of the trace builder.
#ifndef INGEST_KINETO_EVENT_H
#define INGEST_KINETO_EVENT_H

#include "ingest/base/buf.h"
#include "ingest/json_walk.h"
#include "ingest/open_begins.h"
#include "ingest/trace/trace_builder.h"

#define KINETO_CATEGORIES 16

// A value that the event does not have has text.at NULL.
struct event_args {
    struct json_value correlation, device, stream;
    struct json_value bytes, registers, shared_bytes, occupancy;
    struct json_value collective, dtype, in_elems, out_elems, group_size;
    struct json_value group, group_description, group_ranks;
    struct json_value name; // of a metadata row
    int32_t grid[3], block[3];
};

struct event_fields {
    struct json_value phase, name, ts, dur, pid, tid;
    enum event_kind kind;
    struct event_args args;
    bool has_args;         // args were read; else args_at is where to read them
    struct json_walk late; // at args that came before the event's kind was known, text NULL if none
};

struct category_kind {
    char text[24];
    size_t len;
    enum event_kind kind;
};

// What the events of one file share while they are read.
struct kineto_events {
    struct trace_builder *builder;
    struct open_begins begins;
    struct buf scratch;
    struct category_kind categories[KINETO_CATEGORIES]; // met so far
    unsigned category_count;
};

void kineto_events_init(struct kineto_events *events, struct trace_builder *builder,
                        struct budget *budget);
void kineto_events_free(struct kineto_events *events);

// Walks one event whose opening brace was consumed. The fields are slices of the window.
enum walk kineto_event_walk(struct kineto_events *events, struct json_walk *walk,
                            struct event_fields *fields);

// Adds it to the trace, or counts why not. pos is its offset in the stream.
MUST_CHECK bool kineto_event_add(struct kineto_events *events, const struct event_fields *fields,
                                 uint64_t pos, struct err *err);

// Ends begin events that have no end, at the end of the trace.
MUST_CHECK bool kineto_events_finish(struct kineto_events *events, struct err *err);

#endif
