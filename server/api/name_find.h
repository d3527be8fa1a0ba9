// SPDX-License-Identifier: Apache-2.0
// The next or previous event of a trace file whose name has a text, in order of start time.
#ifndef SERVER_NAME_FIND_H
#define SERVER_NAME_FIND_H

#include "ingest/trace/trace_events.h"

// A place in the order: events that start at once are ordered by their lane.
struct find_key {
    int64_t begin_ns; // as in the file
    uint64_t lane;
};

struct name_find {
    struct str text; // not empty; in lower case unless exact
    bool exact;      // the whole name
    bool device_only, backward;
    struct find_key from; // the event wanted is after it, or before
};

struct name_found {
    uint64_t count; // events with the text; of several that start at once on a lane the first
    uint64_t index; // of the event among them, from 1
    struct trace_event event;
    uint64_t lane;
};

// Past the last comes the first, before the first the last. count 0: none. ERR_FORMAT.
MUST_CHECK bool name_find(const struct trace_file *file, const struct name_find *wanted,
                          struct name_found *found, struct err *err);

#endif
