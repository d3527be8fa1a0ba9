// SPDX-License-Identifier: Apache-2.0
// What the readers of a rocpd database share.
#ifndef INGEST_ROCPD_H
#define INGEST_ROCPD_H

#include "ingest/rocm/rocm_agents.h"
#include "ingest/rocm/rocm_rows.h"
#include "ingest/rocm/rocpd_events.h"
#include "ingest/source/format.h"
#include "ingest/sqlite/table_reader.h"
#include "ingest/sqlite/text_table.h"

enum { ROCPD_NAME_BYTES = 128, ROCPD_SUFFIX_BYTES = 80 };

struct rocpd {
    struct table_reader tables;
    struct trace_builder *builder;
    struct figures *figures;
    char suffix[ROCPD_SUFFIX_BYTES]; // of the names of its tables
    struct text_table strings, symbols, categories;
    struct text_table notes; // what markers say, by their events
    struct rocpd_events events;
    struct id_table times;   // layout 4: the time
    struct id_table tracks;  // layout 4: thread, agent, queue
    struct id_table streams; // layout 4: by the track
    struct rocm_rows rows;
    struct rocm_agents agents;
};

// The first columns of every table of records, of both layouts.
#define ROCPD_COMMON "start end start_id end_id event_id track_id tid "
enum {
    ROCPD_START,
    ROCPD_END,
    ROCPD_START_ID,
    ROCPD_END_ID,
    ROCPD_EVENT,
    ROCPD_TRACK,
    ROCPD_THREAD,
    ROCPD_FIRST // of the other columns
};

enum { ROCPD_TRACK_THREAD, ROCPD_TRACK_AGENT, ROCPD_TRACK_QUEUE }; // of tracks

// "rocpd_region_GUID", or another table of this process.
const char *rocpd_table_of(const struct rocpd *rocpd, const char *name, char out[ROCPD_NAME_BYTES]);

// Calls take with the suffix of each process's tables until it returns false.
void rocpd_each_process(const struct database *database, database_take *take, void *context);

// Tables by their names without prefix and suffix.
MUST_CHECK bool rocpd_load_texts(struct rocpd *rocpd, struct text_table *texts, const char *name,
                                 const char *columns, struct err *err);
MUST_CHECK bool rocpd_load_ids(struct rocpd *rocpd, struct id_table *ids, const char *name,
                               const char *columns, struct err *err);

// A time of a row, in a column or by the id of a time; ID_NONE without.
int64_t rocpd_time_of(const struct rocpd *rocpd, const struct rows *rows, unsigned column,
                      unsigned by_id);
// A place of a row or, in layout 4, of its track; 0 without.
int64_t rocpd_place_of(const struct rocpd *rocpd, const struct rows *rows, unsigned column,
                       unsigned of_track);

// The number in a member of flat JSON, as extdata is; VALUE_ABSENT without. key: with its quotes.
int64_t rocpd_number_in(struct str json, struct str key);

// What markers say, for notes and for inspect, which lists those of all processes
// (rocpd_markers.c).
MUST_CHECK bool rocpd_load_notes(struct rocpd *rocpd, struct err *err);
MUST_CHECK bool rocpd_count(const struct format_input *input, struct err *err);

// Allocations of device memory (rocpd_memory.c), and counters: sampled ones, and those of kernels
// (rocpd_counters.c).
MUST_CHECK bool rocpd_read_memory(struct rocpd *rocpd, struct err *err);
MUST_CHECK bool rocpd_read_counters(struct rocpd *rocpd, struct err *err);

#endif
