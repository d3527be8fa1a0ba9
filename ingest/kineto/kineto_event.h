// SPDX-License-Identifier: Apache-2.0
// One event of a Kineto or Chrome trace: from its fields to a record of the trace builder.
#ifndef INGEST_KINETO_EVENT_H
#define INGEST_KINETO_EVENT_H

#include "ingest/base/buf.h"
#include "ingest/kineto/kineto_fields.h"
#include "ingest/kineto/open_begins.h"
#include "ingest/kineto/text_guess.h"
#include "ingest/trace/trace_builder.h"

// State shared by the events of one file while they are read.
struct kineto_events {
    struct trace_builder *builder;
    struct text_guess *guess; // receives the texts that it asks for; NULL without layouts
    struct open_begins begins;
    uint64_t defined_count; // events with a phase that the format defines
    uint32_t own;           // hash of the label of the rank to read, of several; 0: all events
    uint64_t others;        // events of other ranks
    int64_t rank;           // by its collectives; VALUE_ABSENT: they do not say it
    int64_t far_us;         // the first time beyond TRACE_MAX_NS, 0 if none yet
    struct buf scratch;
    // Of the current event; too large to clear each time, so each use sets what it reads.
    struct event_fields fields;
    struct event_record record;
};

void kineto_events_init(struct kineto_events *events, struct trace_builder *builder,
                        struct budget *budget);
void kineto_events_free(struct kineto_events *events);

// Takes over what other events of the file say about the rank: a negative one if they differ.
void kineto_events_note_rank(struct kineto_events *events, int64_t rank);

// Whether the event's time depends on earlier events in the file.
bool kineto_event_is_far(const struct event_fields *fields);

// Adds the event in events->fields to the trace, or counts why not. pos is its offset in the
// stream.
MUST_CHECK bool kineto_event_add(struct kineto_events *events, uint64_t pos, struct err *err);

// Ends all begin events that are still open at the end of the trace.
MUST_CHECK bool kineto_events_finish(struct kineto_events *events, struct err *err);

#endif
