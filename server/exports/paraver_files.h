// SPDX-License-Identifier: Apache-2.0
// What accompanies a Paraver trace: names of its values (.pcf), of its rows (.row), and views of it
// (.cfg). Rows, types and values are those that users of nsys2prv know.
#ifndef SERVER_PARAVER_FILES_H
#define SERVER_PARAVER_FILES_H

#include "analysis/stats/groups.h"
#include "ingest/base/buf.h"

enum prv_kind { PRV_API, PRV_MEMORY, PRV_KERNEL, PRV_NCCL, PRV_NOTE, PRV_OPERATOR, PRV_KINDS };
enum prv_state { PRV_IDLE = 0, PRV_RUNNING = 1, PRV_COMMUNICATION = 13, PRV_COPY = 17 };
enum {
    PRV_BYTES_TYPE = 63000002,
    PRV_CORRELATION_TYPE = 9200,
    PRV_LAUNCHED_TYPE = 9300, // ours: counts so far in their row
    PRV_ENDED_TYPE = 9301,
};

extern const uint32_t prv_types[PRV_KINDS];

struct prv_name {
    size_t at, len; // of its text
    unsigned kinds; // a bit for each kind that has it
};

// Names of values, the same for all ranks; values are their places plus 1.
struct prv_names {
    struct budget budget;
    struct groups groups;
    struct prv_name *list;
    size_t count, room;
    struct buf text;
};

void prv_names_init(struct prv_names *names);
void prv_names_free(struct prv_names *names);
// The value of a name; that of "other names" for names that no longer fit. ERR_MEMORY.
MUST_CHECK bool prv_names_value(struct prv_names *names, struct str text, uint32_t *value,
                                struct err *err);

void prv_write_pcf(const struct prv_names *names, struct buf *out);

struct prv_view {
    const char *file; // "gpu_useful.cfg"
    const char *title;
    uint32_t type;        // of the events shown; 0: the states
    const char *function; // of the window
    bool sign;            // 1 while there is one, else 0
};
extern const struct prv_view prv_views[];
extern const size_t prv_view_count;
void prv_write_view(const struct prv_view *view, struct buf *out);

// Views that are made of two others.
void prv_write_overlap(struct buf *out);
void prv_write_in_flight(struct buf *out);

#endif
