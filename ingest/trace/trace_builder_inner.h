// SPDX-License-Identifier: Apache-2.0
// The state of a trace builder; only for collecting, absorbing and sealing.
#ifndef INGEST_TRACE_TRACE_BUILDER_INNER_H
#define INGEST_TRACE_TRACE_BUILDER_INNER_H

#include "ingest/base/fuzzed.h"
#include "ingest/trace/record_set.h"
#include "ingest/trace/trace_builder.h"

// Fixed chunks grow without copying and are freed one column at a time while sealing.
#define CHUNK_EVENTS ((uint32_t)FUZZED_SIZE(1 << 15, 16))
#define MAX_EVENTS   (UINT32_MAX - 2)

enum column_id { COL_BEGIN, COL_DUR, COL_NAME, COL_KIND, COL_ARGS, COL_TRACK, COL_COUNT };

static const size_t column_size[COL_COUNT] = {
    [COL_BEGIN] = sizeof(int64_t), [COL_DUR] = sizeof(int64_t),   [COL_NAME] = sizeof(str_id),
    [COL_KIND] = sizeof(uint8_t),  [COL_ARGS] = sizeof(uint32_t), [COL_TRACK] = sizeof(uint32_t),
};

struct chunked {
    char **chunks;
    uint32_t count;
};

struct growing {
    char *at;
    uint32_t count, cap;
};

// Where the columns are written: the chunk of the next event.
struct column_tail {
    int64_t *begin_ns, *dur_ns;
    str_id *name;
    uint8_t *kind;
    uint32_t *args, *track;
};

struct track_key {
    int64_t pid, tid;
    str_id pid_text, tid_text;
    uint32_t family;
    uint32_t reserved;
};

// Two labels without padding, to be compared as bytes.
struct thread_key {
    int64_t pid, tid;
    str_id pid_text, tid_text;
};

// A counter without padding, to be compared as bytes.
struct counter_key {
    int64_t pid;
    str_id pid_text, name, key;
    uint32_t reserved;
};

struct counted {
    int64_t time_ns;
    double value;
    uint32_t counter, reserved;
};

// Things for which a part and the builder that absorbs it use different indexes.
enum renamed {
    RENAMED_TEXT,
    RENAMED_SHAPE,
    RENAMED_COLLECTIVE,
    RENAMED_COPY,
    RENAMED_INPUTS,
    RENAMED_TRACK,
    RENAMED_COUNTER,
    RENAMED_COUNT
};

struct trace_builder {
    struct budget *budget;
    struct cores *cores; // that may help to seal
    struct strtab strings;
    struct chunked columns[COL_COUNT];
    struct column_tail tail;
    uint32_t event_count;
    struct growing device_args, comms_ids, launch_args, op_args, memory_args;
    struct growing devices, groups, settings;
    struct growing counted; // struct counted
    struct record_set shapes, collectives, copy_calls, op_inputs, tracks;
    struct record_set counters;    // struct counter_key
    struct record_set group_names; // str_id; same index as groups
    struct record_set threads;     // struct thread_key; same index as thread_names
    struct growing thread_names;   // str_id
    struct trace_job job;
    int64_t last_ns;
    struct repair_note repairs[REPAIR_COUNT];
    uint64_t input_events, text_bytes;
    // Of a part: the index (uint32_t) in the whole of everything absorbed from it.
    struct growing renamed[RENAMED_COUNT];
    uint32_t absorbed_threads;
};

static inline void *column_at(const struct trace_builder *builder, enum column_id id,
                              uint32_t event)
{
    char *chunk = builder->columns[id].chunks[event / CHUNK_EVENTS];
    return chunk + event % CHUNK_EVENTS * column_size[id];
}

void trace_builder_free_column(struct trace_builder *builder, enum column_id id);

// Makes room for one more event and points the tail at its chunk.
MUST_CHECK bool trace_builder_begin_chunk(struct trace_builder *builder, struct err *err);

static inline bool trace_builder_make_room(struct trace_builder *builder, struct err *err)
{
    return (builder->event_count % CHUNK_EVENTS && builder->event_count < MAX_EVENTS) ||
           trace_builder_begin_chunk(builder, err);
}

// Makes room for `more` elements of size bytes in an array that grows by half.
MUST_CHECK bool trace_builder_reserve(struct trace_builder *builder, struct growing *array,
                                      uint32_t more, size_t size, struct err *err);

#endif
