// SPDX-License-Identifier: Apache-2.0
// The layout of a trace file, for reading and writing: a header, then compressed blocks of columns,
// then the table of these blocks.
#ifndef INGEST_TRACE_TRACE_FILE_FORMAT_H
#define INGEST_TRACE_TRACE_FILE_FORMAT_H

#include "ingest/base/fuzzed.h"
#include "ingest/base/hash.h"
#include "ingest/trace/trace.h"

#define TRACE_FILE_MAGIC   0x31454341525453u // "STRACE1"
#define TRACE_FILE_VERSION 9u
#define TRACE_FILE_OLDEST  8u // blocks as they are, but for ascending times
#define TRACK_FIELDS       8
#define TIMELINE_ROWS      64   // most rows per track in the timeline
#define TIMELINE_NO_ROW    127u // of an event nested deeper than that
#define TIMELINE_COMM      128u // flag in the row of a device event with collective metadata

// Sections are stored in blocks of this many elements (texts: more bytes); little-endian, like
// every machine this runs on.
#define COLUMN_BLOCK    ((size_t)FUZZED_SIZE(1 << 13, 1 << 8))
#define TEXT_BLOCK      ((size_t)FUZZED_SIZE(1 << 16, 1 << 13))
#define BLOCK_MAX_BYTES (COLUMN_BLOCK * sizeof(struct collective)) // the largest element

enum section_id {
    SECTION_BEGIN,
    SECTION_DUR,
    SECTION_NAME,
    SECTION_KIND,
    SECTION_ARGS,
    SECTION_TRACKS,
    SECTION_DEVICE_ARGS,
    SECTION_COMMS_IDS,
    SECTION_LAUNCH_ARGS,
    SECTION_OP_ARGS,
    SECTION_MEMORY_ARGS,
    SECTION_SHAPES,
    SECTION_COLLECTIVES,
    SECTION_COPY_CALLS,
    SECTION_OP_INPUTS,
    SECTION_COUNTERS,
    SECTION_COUNTER_SAMPLES,
    SECTION_DEVICES,
    SECTION_GROUPS,
    SECTION_SETTINGS,
    SECTION_TEXT,
    SECTION_SPANS,
    SECTION_REPAIRS,
    SECTION_SECRETS,
    SECTION_OF_TIMELINE, // from here on: derived from the events, used only by the timeline
    SECTION_ROW = SECTION_OF_TIMELINE,
    SECTION_TIMES, // per block of events
    SECTION_LEVELS,
    SECTION_SLICE_BEGIN,
    SECTION_SLICE_DUR,
    SECTION_SLICE_IDLE,   // dur - busy
    SECTION_SLICE_OTHERS, // busy - longest
    SECTION_SLICE_NAME,
    SECTION_SLICE_COUNT,
    SECTION_SLICE_KIND,
    SECTION_SLICE_ROW,
    SECTION_SLICE_TIMES, // per block of slices
    SECTION_COUNT
};

// When the first event of a block starts and when the last one ends.
struct block_times {
    int64_t begin_ns, end_ns;
};

// Slices first .. first + count - 1 are a track's events, with neighbors merged if together they
// last at most width_ns.
struct level_entry {
    int64_t width_ns;
    uint32_t track, reserved;
    uint64_t first, count;
};

struct stored_section {
    uint64_t count; // elements
    uint32_t first_block, block_count;
};

struct stored_block {
    uint64_t offset; // in the file, of one zstd frame with its checksum
    uint64_t length;
};

struct trace_file_header {
    uint64_t magic;
    uint32_t version, section_count;
    uint64_t input_events, text_bytes;
    struct trace_job job;
    int64_t begin_ns, end_ns; // of all events; both 0 if there are none
    int64_t device_begin_ns;  // of the first plausible device event, begin_ns if there is none
    struct stored_section sections[SECTION_COUNT];
    uint64_t blocks_offset, blocks_checksum;
    uint64_t checksum; // of everything before it
};

static inline uint32_t section_element(enum section_id id)
{
    static const uint32_t sizes[SECTION_COUNT] = {
        [SECTION_BEGIN] = sizeof(int64_t),
        [SECTION_DUR] = sizeof(int64_t),
        [SECTION_NAME] = sizeof(str_id),
        [SECTION_KIND] = sizeof(uint8_t),
        [SECTION_ARGS] = sizeof(uint32_t),
        [SECTION_TRACKS] = TRACK_FIELDS * sizeof(int64_t),
        [SECTION_DEVICE_ARGS] = sizeof(struct device_args),
        [SECTION_COMMS_IDS] = sizeof(struct comms_id),
        [SECTION_LAUNCH_ARGS] = sizeof(struct launch_args),
        [SECTION_OP_ARGS] = sizeof(struct op_args),
        [SECTION_MEMORY_ARGS] = sizeof(struct memory_args),
        [SECTION_SHAPES] = sizeof(struct launch_shape),
        [SECTION_COLLECTIVES] = sizeof(struct collective),
        [SECTION_COPY_CALLS] = sizeof(struct copy_call),
        [SECTION_OP_INPUTS] = sizeof(struct op_inputs),
        [SECTION_COUNTERS] = sizeof(struct counter),
        [SECTION_COUNTER_SAMPLES] = sizeof(struct counter_sample),
        [SECTION_DEVICES] = sizeof(struct trace_device),
        [SECTION_GROUPS] = sizeof(struct trace_group),
        [SECTION_SETTINGS] = sizeof(struct trace_setting),
        [SECTION_TEXT] = 1,
        [SECTION_SPANS] = sizeof(uint64_t),
        [SECTION_REPAIRS] = sizeof(struct repair_note),
        [SECTION_SECRETS] = sizeof(struct secret_count),
        [SECTION_ROW] = sizeof(uint8_t),
        [SECTION_TIMES] = sizeof(struct block_times),
        [SECTION_LEVELS] = sizeof(struct level_entry),
        [SECTION_SLICE_BEGIN] = sizeof(int64_t),
        [SECTION_SLICE_DUR] = sizeof(int64_t),
        [SECTION_SLICE_IDLE] = sizeof(int64_t),
        [SECTION_SLICE_OTHERS] = sizeof(int64_t),
        [SECTION_SLICE_NAME] = sizeof(str_id),
        [SECTION_SLICE_COUNT] = sizeof(uint32_t),
        [SECTION_SLICE_KIND] = sizeof(uint8_t),
        [SECTION_SLICE_ROW] = sizeof(uint8_t),
        [SECTION_SLICE_TIMES] = sizeof(struct block_times),
    };
    return sizes[id];
}

static inline size_t section_block(enum section_id id)
{
    return id == SECTION_TEXT ? TEXT_BLOCK : COLUMN_BLOCK;
}

// Sections whose elements are ascending times: files of version 8 have their differences.
static inline bool section_is_ordered(enum section_id id)
{
    return id == SECTION_BEGIN || id == SECTION_SLICE_BEGIN;
}

// Of the header's bytes before its last member.
static inline uint64_t trace_file_checksum(const struct trace_file_header *header)
{
    return hash_bytes((const char *)header, offsetof(struct trace_file_header, checksum));
}

#endif
