// SPDX-License-Identifier: Apache-2.0
// Walks through all that is exported, rank by rank and lane by lane, and has a format write it
// piece by piece.
#ifndef SERVER_EVENT_WALK_H
#define SERVER_EVENT_WALK_H

#include "ingest/trace/trace_events.h"
#include "server/exports/event_source.h"
#include "server/exports/lane_rows.h"

enum walk_stage { WALK_HEAD, WALK_RANK, WALK_TRACKS, WALK_WAITS, WALK_COUNTERS, WALK_DONE };

// Times are since the origin, never negative.
struct walk_slice {
    int64_t begin_ns, end_ns;
    uint32_t row; // of the lane
    enum event_kind kind;
    const char *category;          // "compute", "communication", "cpu_op", "wait", ...
    str_id name;                   // 0: it is not among the trace's texts
    struct str text;               // the same as text
    uint64_t launch;               // the same for a call and what it launched, 0 none
    bool launches;                 // it is the call
    const struct comm_event *call; // a collective in source->comm, NULL: not known there
};

struct walk_counter {
    uint32_t number; // within the rank
    bool is_new;     // its first value
    const char *unit;
    struct str name;
    int64_t time_ns;
    double value;
};

struct event_walk;

// What a format writes. All but slice may be NULL.
struct walk_writer {
    void (*head)(struct event_walk *walk, struct buf *out);
    void (*rank)(struct event_walk *walk, struct buf *out);
    void (*row)(struct event_walk *walk, uint32_t row, struct buf *out); // a new one of the lane
    void (*slice)(struct event_walk *walk, const struct walk_slice *slice, struct buf *out);
    void (*end)(struct event_walk *walk, uint32_t row, int64_t end_ns, struct buf *out);
    void (*counter)(struct event_walk *walk, const struct walk_counter *counter, struct buf *out);
    void (*tail)(struct event_walk *walk, struct buf *out);
};

enum { WALK_MEMORY_DEVICES = 32 };

struct event_walk {
    const struct event_source *source;
    const struct walk_writer *writer;
    void *context; // of the writer
    int64_t origin_ns;
    enum walk_stage stage;

    // The current rank.
    size_t index;
    const struct comm_rank *comm;
    struct trace_file *file;
    struct trace_events events;
    struct trace_texts texts, labels; // of slices and of lanes, valid until the next one
    struct trace_blocks device_args, launch_args, memory_args, counters, samples;
    int64_t base_ns;
    struct trace_window window;
    uint8_t *classes; // per text: 1 + enum device_class of a kernel of that name, 0 not known yet

    // The current lane: a track, or after the last of them the waits.
    size_t lane;
    struct trace_cursor cursor;
    struct lane_rows rows;
    uint32_t rows_begun; // set by the writer
    int64_t last_ns;     // start of the last slice
    uint32_t next_call;  // of the waits
    uint64_t next_counter, next_sample;
    bool counter_begun;                        // set by the writer
    uint64_t memory_keys[WALK_MEMORY_DEVICES]; // 1 + device and its type
    struct buf *out;
};

// Pair with event_walk_close. The walk must not move.
void event_walk_open(struct event_walk *walk, const struct event_source *source,
                     const struct walk_writer *writer, void *context);
void event_walk_close(struct event_walk *walk);
MUST_CHECK bool event_walk_next(struct event_walk *walk, struct buf *out, bool *more,
                                struct err *err);

// For writers: the name of the current lane ("GPU 0 stream 7"), and whether it is a thread's.
void event_walk_name_lane(struct event_walk *walk, struct buf *out);

static inline bool event_walk_is_waits(const struct event_walk *walk)
{
    return walk->lane == walk->events.track_count;
}

static inline int64_t event_walk_rank(const struct event_walk *walk)
{
    return walk->source->ranks[walk->index].rank;
}

#endif
