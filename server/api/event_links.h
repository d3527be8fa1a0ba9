// SPDX-License-Identifier: Apache-2.0
// One event of a trace file and what it is linked with: the call that launched it or what it
// launched, what encloses it on the host, and what it waited for.
#ifndef SERVER_EVENT_LINKS_H
#define SERVER_EVENT_LINKS_H

#include "ingest/trace/trace_events.h"

#define EVENT_STACK_MOST 64u
#define EVENT_ROW_NONE   TIMELINE_NO_ROW

// An event and its place.
struct placed_event {
    struct trace_event event;
    size_t lane;  // its track
    uint32_t row; // on the timeline, EVENT_ROW_NONE if it is nested too deep for it
};

enum event_wait {
    WAIT_NONE,
    WAIT_STREAM,       // for the event before it on its stream
    WAIT_OTHER_STREAM, // nothing ran there: another stream's event ended last before it
    WAIT_DEVICE,       // a call that synchronizes: for the device's last event within it
};

// Device work that calls within an event launched.
struct launched_work {
    uint64_t count; // 0: none
    bool complete;  // false: the event has more calls than are followed, so this is a lower bound
    int64_t busy_ns, begin_ns, end_ns;
    struct placed_event first;
};

struct event_links {
    struct placed_event event;
    int64_t correlation; // VALUE_ABSENT if not given
    bool has_launch;
    struct placed_event launch;
    // What encloses the event, or its launch, on the host; outermost first. Of more than fit
    // the innermost.
    struct placed_event stack[EVENT_STACK_MOST];
    unsigned stack_count;
    struct launched_work work;
    enum event_wait wait;
    struct placed_event waited_for; // unless WAIT_NONE
};

// Which event: on a track, by its start; dur_ns -1: the first that starts then.
struct event_place {
    size_t lane;
    int64_t begin_ns, dur_ns; // as in the file
};

// *found: false if no event is there. ERR_FORMAT.
MUST_CHECK bool event_links_read(const struct trace_file *file, const struct event_place *place,
                                 struct event_links *links, bool *found, struct err *err);

#endif
