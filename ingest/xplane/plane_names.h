// SPDX-License-Identifier: Apache-2.0
// What the numbers of a plane mean: names of events, and names of the statistics that events,
// planes and names themselves have.
#ifndef INGEST_XPLANE_PLANE_NAMES_H
#define INGEST_XPLANE_PLANE_NAMES_H

#include "ingest/trace/trace_builder.h"
#include "ingest/xplane/proto.h"

// Statistics that are read.
enum plane_stat {
    STAT_OTHER,
    STAT_CORRELATION,
    STAT_STEP,
    STAT_COPY, // only copies have it, and so on
    STAT_SET,
    STAT_KERNEL,
    STAT_GRAPH,
    STAT_NO_WORK, // an allocation or the like on a stream
    STAT_CATEGORY,
    STAT_START_TIME,
};

struct plane_meta; // what a number means

struct plane_metas {
    struct plane_meta *at;
    size_t count, cap;
};

// Starts as zeros but for the first three.
struct plane_names {
    struct trace_builder *builder;
    char *text; // room for any text
    size_t text_cap;
    struct plane_metas events, stats;
    bool operations; // whether events are operations of a TPU
};

void plane_names_clear(struct plane_names *names);

// Adds an entry of the map of events or of statistics.
MUST_CHECK bool plane_names_add(struct plane_names *names, struct plane_metas *metas,
                                struct proto entry, struct err *err);
// After all entries.
MUST_CHECK bool plane_names_done(struct plane_names *names, struct err *err);

// What an operation of a TPU is besides work; all 0: nothing.
struct plane_op {
    const char *collective; // NULL: none
    bool holds;             // other operations, which are on the same line
    bool awaits_host;
};
bool plane_op_is_plain(struct plane_op op);

// A statistic's value: a number, or a text.
struct plane_value {
    enum plane_stat stat;
    uint64_t number;
    struct proto text;
    struct plane_op op; // by a category
};
MUST_CHECK bool plane_names_value(struct plane_names *names, struct proto stat,
                                  struct plane_value *value, struct err *err);

// What an event's number says. Strings live until the names are cleared.
struct plane_event {
    str_id name;
    struct plane_op op; // by its category or name
};
MUST_CHECK bool plane_names_event(struct plane_names *names, uint64_t id, struct plane_event *event,
                                  struct err *err);

#endif
