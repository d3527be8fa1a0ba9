// SPDX-License-Identifier: Apache-2.0
// How the elements of a block are written before they are compressed: as differences from what is
// expected, with the bytes of one significance side by side. The number of bytes stays the same.
//
// A step repeats the one before it, and so does a layer: an event is expected to start as long
// after the one before it, and to last as long, as the last time that events of these two names
// followed one another in the block. So what repeats is written as its differences from the
// template, and a block can still be read without those before it.
#ifndef INGEST_TRACE_TRACE_FILE_CODE_H
#define INGEST_TRACE_TRACE_FILE_CODE_H

#include "ingest/trace/trace_file_format.h"

#define CODE_PLACES 4096u // of pairs of names; those that share a place only predict worse

// What else is known of a block's events. NULL for other sections.
struct code_events {
    const str_id *name;
    const uint8_t *kind;
};

// Memory for one call, too much for the stacks of threads.
struct code_room {
    uint64_t places[CODE_PLACES]; // by the names, or the kind
    uint64_t codes[COLUMN_BLOCK];
};

// Whether the section's bytes change at all.
bool trace_code_changes(enum section_id id);

// Whether the section needs the names, or the kinds, of its events.
bool trace_code_needs_names(enum section_id id);
bool trace_code_needs_kinds(enum section_id id);

// A block or less, to encode or decode; from and to do not overlap. Any bytes can be decoded.
struct code_block {
    enum section_id id;
    size_t count;
    struct code_events events;
    struct code_room *room;
};
void trace_code_encode(const struct code_block *block, const void *from, uint8_t *to);
void trace_code_decode(const struct code_block *block, const uint8_t *from, void *to);

#endif
