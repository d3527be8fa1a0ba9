// SPDX-License-Identifier: Apache-2.0
// The events of an open trace file, track by track or on several tracks at a time, in bounded
// memory: for exports of traces of any size.
#ifndef INGEST_TRACE_TRACE_EVENTS_H
#define INGEST_TRACE_TRACE_EVENTS_H

#include "ingest/trace/trace_blocks.h"
#include "ingest/trace/trace_tracks.h"

struct trace_event {
    int64_t begin_ns, end_ns; // end >= begin
    str_id name;              // checked
    uint32_t args;            // as in struct trace
    enum event_kind kind;
    bool collective; // a device event with collective metadata
};

struct event_block;

struct trace_events {
    const struct trace_file *file;
    struct arena arena;
    struct track *tracks;
    size_t track_count;
    struct block_times *times;
    struct event_block **blocks; // the ones used last
    unsigned kept;               // how many
    uint64_t uses;
};

// Events that overlap [from, to), also those without length at from.
struct trace_window {
    int64_t from_ns, to_ns;
};

// A position on a track.
struct trace_cursor {
    uint64_t next, end; // events
    unsigned hint;      // where its block may be
};

// blocks: how many to keep, one per track that is read at a time. Pair with trace_events_close,
// also after a failure. ERR_FORMAT.
MUST_CHECK bool trace_events_open(struct trace_events *events, const struct trace_file *file,
                                  unsigned blocks, struct err *err);
void trace_events_close(struct trace_events *events);

struct trace_cursor trace_events_start(const struct trace_events *events, size_t track);

// The next event of the track in the window; *found: false after the last. ERR_FORMAT.
MUST_CHECK bool trace_events_next(struct trace_events *events, struct trace_cursor *cursor,
                                  struct trace_window window, struct trace_event *event,
                                  bool *found, struct err *err);

#endif
