// SPDX-License-Identifier: Apache-2.0
// The rows of devices and of the host in a Paraver trace, as Extrae and nsys2prv write them: which
// threads they are (.row, and the threads in the header), which event types mean device work or
// calls (.pcf), and what is open on each.
#ifndef INGEST_PARAVER_PRV_ROWS_H
#define INGEST_PARAVER_PRV_ROWS_H

#include "ingest/trace/event_record.h"

#define PRV_BLANKS " \t\r" // around what a line says

// What an event type says: work, or something about the work that its line starts. PRV_CALL: on a
// device's row what the name of the call says.
enum prv_what {
    PRV_KERNEL,
    PRV_COPY,
    PRV_SET,
    PRV_GRAPH,
    PRV_CALL,
    PRV_WORKS,
    PRV_GRID = PRV_WORKS, // x, y and z
    PRV_BLOCK = PRV_GRID + 3,
    PRV_REGISTERS = PRV_BLOCK + 3,
    PRV_BYTES,
    PRV_CORRELATION
};

struct prv_type {
    int64_t type;
    enum prv_what what;
    uint32_t group; // of types that share the names of their values
};

struct prv_value {
    int64_t value;
    uint32_t group;
    str_id name;
};

// What runs on a row.
struct prv_work {
    int64_t start_ns; // VALUE_ABSENT: nothing
    int64_t type;
    str_id name;
    int64_t correlation; // VALUE_ABSENT
    struct launch_shape shape;
};

// A thread of the host, or the stream of a device.
struct prv_row {
    int64_t row; // among all threads, from 0
    bool of_device;
    int64_t device, stream;
    int64_t task;            // from 1; 0: unknown
    str_id of_task;          // the device's name where several tasks have devices, else 0
    enum prv_what described; // the work that started last; PRV_WORKS: none
    struct prv_work works[PRV_WORKS];
};

struct prv_rows {
    struct budget *budget;
    struct trace_builder *builder;
    struct prv_type *types;
    struct prv_value *values;
    struct prv_row *rows;
    int64_t *first; // row of each task of the first application
    size_t type_count, type_cap, value_count, value_cap, row_count, row_cap, first_count, first_cap;
    // while names are read
    uint32_t group;
    bool in_types, in_values, in_threads;
    int64_t labels;
};

void prv_rows_free(struct prv_rows *rows);

// A line before the header: of a .pcf or a .row.
MUST_CHECK bool prv_rows_name(struct prv_rows *rows, struct str line, struct err *err);

// What the header says about the applications: "2(1:1,3:1)". After all names.
MUST_CHECK bool prv_rows_layout(struct prv_rows *rows, struct str applications, struct err *err);

// The row of a thread; NULL: it has no name. Numbers from 1.
struct prv_row *prv_rows_find(const struct prv_rows *rows, int64_t application, int64_t task,
                              int64_t thread);

// An event type and value at a time on a row.
MUST_CHECK bool prv_rows_event(struct prv_rows *rows, struct prv_row *row, int64_t time_ns,
                               const int64_t pair[2], struct err *err);

#endif
