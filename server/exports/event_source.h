// SPDX-License-Identifier: Apache-2.0
// Which events of which ranks are exported, and the formats for that. To add one: a file with a
// `const struct event_export export_x`, and a line in event_exports.c.
#ifndef SERVER_EVENT_SOURCE_H
#define SERVER_EVENT_SOURCE_H

#include "analysis/ranks/run_comm.h"
#include "ingest/trace/trace_events.h"

// A rank to export. Times are on the common clock: its own since 1970, plus its offset.
struct event_rank {
    int64_t rank;
    // Set by event_source_measure, of all its events:
    int64_t begin_ns, end_ns;
    uint64_t events;
};

struct event_source {
    struct event_rank *ranks;
    size_t count;
    // Opens a rank's trace, which is closed with trace_file_close.
    struct trace_file *(*open)(void *context, size_t index, struct err *err);
    void *context;
    const struct run_comm *comm; // collectives of all the run's ranks; NULL: unknown
    struct str title;            // the run's name
    size_t base;                 // the rank from whose first event the window counts
    int64_t from_ns, to_ns;      // to_ns -1: to the end
    bool device_only;
    uint64_t min_free_bytes; // on the disk of temporary files; with less an export gives up
};

// Opens all ranks once for their times. Before any export.
MUST_CHECK bool event_source_measure(struct event_source *source, struct err *err);

// The earliest time of all ranks: where the time of exports starts.
int64_t event_source_origin(const struct event_source *source);
int64_t event_source_end(const struct event_source *source);

// A rank's part of the collectives; NULL if there is none.
const struct comm_rank *event_source_comm(const struct event_source *source, size_t index);

// What to add to times in a trace file to get those since 1970.
int64_t event_source_base(const struct trace_file *file);

// A time since 1970 by a rank's own clock, on the common clock. comm: NULL is allowed.
int64_t event_source_align(const struct comm_rank *comm, int64_t own_ns);

// The source's window in the times of a trace's file.
struct trace_window event_source_window(const struct event_source *source,
                                        const struct comm_rank *comm, int64_t base_ns);

// --- formats ------------------------------------------------------------------------------------

struct event_export {
    const char *word;    // of the parameter `format` and of `stepscope export`
    const char *accept;  // media type in Accept that selects it; NULL: only the parameter does
    const char *type;    // Content-Type
    const char *suffix;  // of the file's name
    const char *help;    // what it is, in a few words
    bool whole_run;      // takes no window, and all ranks unless some are named
    bool is_archive;     // a tar of files with plain names
    uint64_t held_bytes; // memory besides a trace's blocks and a piece of output
    // *state is closed with close, also after a failure that set it.
    MUST_CHECK bool (*open)(const struct event_source *source, void **state, struct err *err);
    // Adds the next piece; *more: another may follow.
    MUST_CHECK bool (*next)(void *state, struct buf *out, bool *more, struct err *err);
    void (*close)(void *state);
};

extern const struct event_export export_perfetto, export_chrome, export_paraver,
    export_arrow_events, export_parquet_events;

// In the order in which messages list them; ends with NULL.
extern const struct event_export *const event_exports[];

// NULL without such a format.
const struct event_export *event_export_find(struct str word);

// ERR_USAGE, listing the known ones.
bool event_export_refuse(struct str word, struct err *err);

#endif
