// SPDX-License-Identifier: Apache-2.0
// One event of a Kineto or Chrome trace: from JSON text to a record of the trace builder.
#ifndef INGEST_KINETO_EVENT_H
#define INGEST_KINETO_EVENT_H

#include "ingest/base/buf.h"
#include "ingest/json_walk.h"
#include "ingest/open_begins.h"
#include "ingest/trace/trace_builder.h"

#define KINETO_CATEGORIES 16

// The values that are read: raw texts of members of the event, then of its args.
enum event_field {
    FIELD_PHASE,
    FIELD_NAME,
    FIELD_TS,
    FIELD_DUR,
    FIELD_PID,
    FIELD_TID,
    ARG_FIRST,
    ARG_CORRELATION = ARG_FIRST,
    ARG_DEVICE,
    ARG_STREAM,
    ARG_BYTES,
    ARG_KIND,
    ARG_SIZE,
    ARG_REGISTERS,
    ARG_SHARED_BYTES,
    ARG_OCCUPANCY,
    ARG_COLLECTIVE,
    ARG_DTYPE,
    ARG_IN_ELEMS,
    ARG_OUT_ELEMS,
    ARG_GROUP_SIZE,
    ARG_GROUP,
    ARG_GROUP_DESCRIPTION,
    ARG_GROUP_RANKS,
    ARG_RANK_START,
    ARG_RANK_STRIDE,
    ARG_IN_SPLITS,
    ARG_OUT_SPLITS,
    ARG_COLLECTIVE_SEQUENCE,
    ARG_DIMS,
    ARG_TYPES,
    ARG_STRIDES,
    ARG_CONCRETE,
    ARG_MODULE,
    ARG_SEQUENCE, // of an operator
    ARG_ALLOCATED,
    ARG_RESERVED,
    ARG_ALLOCATION_BYTES,
    ARG_ADDRESS,
    ARG_DEVICE_TYPE,
    ARG_DEVICE_INDEX,
    ARG_NAME, // of a metadata row
    EVENT_FIELD_COUNT
};

struct event_fields {
    uint64_t present; // bit f: value[f] was read; the others are not initialized
    enum event_kind kind;
    bool has_args; // args were read; else `late` is where to read them
    bool bad_args; // args are no JSON and were passed over
    int32_t grid[3], block[3];
    struct str value[EVENT_FIELD_COUNT];
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
    // Of the event at hand; too large to clear for each, so each use sets what it reads.
    struct event_fields fields;
    struct event_record record;
    struct category_kind categories[KINETO_CATEGORIES]; // met so far
    unsigned category_count;
};

void kineto_events_init(struct kineto_events *events, struct trace_builder *builder,
                        struct budget *budget);
void kineto_events_free(struct kineto_events *events);

// Walks one event whose opening brace was consumed. Its fields are slices of the window.
enum walk kineto_event_walk(struct kineto_events *events, struct json_walk *walk);

// Adds it to the trace, or counts why not. pos is its offset in the stream.
MUST_CHECK bool kineto_event_add(struct kineto_events *events, uint64_t pos, struct err *err);

// Ends begin events that have no end, at the end of the trace.
MUST_CHECK bool kineto_events_finish(struct kineto_events *events, struct err *err);

#endif
