// SPDX-License-Identifier: Apache-2.0
// What the readers of an Nsight Systems export share. Tables and columns come and go with its
// version, so each reader takes what is there; see ingest/nsys/README.md for the tables.
#ifndef INGEST_NSYS_NSYS_H
#define INGEST_NSYS_NSYS_H

#include "ingest/source/device_users.h"
#include "ingest/sqlite/table_reader.h"
#include "ingest/sqlite/text_table.h"
#include "ingest/trace/event_record.h"

enum { NSYS_DEVICES = 64 }; // numbers below are noted

// An export while one process of it is read.
struct nsys {
    struct table_reader tables;
    struct trace_builder *builder;
    struct text_table texts;
    struct id_table waits; // by correlation, of calls that wait: for what, a syncType
    struct nccl *nccl;
    int64_t process;         // globalPid of the process to read; FORMAT_WHOLE: the first one found
    struct rows_only own[3]; // selects its rows, for database_only
    uint64_t used_devices;   // bits by number
    int64_t contexts[NSYS_DEVICES]; // the first one seen on each device; 0: none
    struct device_users *users;     // of devices; NULL until a row names no process
    bool is_timed;                  // some device event has times
    uint64_t text_row;              // the first row with text for a time, from 1; 0: none
};

// A process or thread: hardware and virtual machine in the upper 16 bits, then 24 of the process,
// then 24 of the thread.
#define NSYS_PROCESS_BITS (~INT64_C(0xFFFFFF))
static inline int64_t nsys_pid(int64_t global)
{
    return global >> 24 & 0xFFFFFF;
}
static inline int64_t nsys_tid(int64_t global)
{
    return global & 0xFFFFFF;
}

// Whether rows of a globalTid, VALUE_ABSENT if not given, belong to the process.
bool nsys_is_own(const struct nsys *nsys, int64_t global);

// The same, but a row that names no process belongs to a single one: to the only one that used the
// device (-1: unknown), or else to the first.
MUST_CHECK bool nsys_owns(struct nsys *nsys, int64_t global, int64_t device, bool *own,
                          struct err *err);

// The processes that used a device, by device and process.
MUST_CHECK bool nsys_parts(struct source *source, struct format_parts *parts, struct err *err);

// Length of the recording; stays as it is if that is unknown.
MUST_CHECK bool nsys_capture_ns(struct nsys *nsys, int64_t *capture_ns, struct err *err);

// Sets the times of an event from columns 0 and 1, the start and the end. False if they cannot be
// used.
bool nsys_times(struct nsys *nsys, const struct rows *rows, struct event_record *record);

// The label of a stream, whose number is unique within a context: in a context after the device's
// first it has the context, too.
struct nsys_stream {
    int64_t device, context, number;
};
MUST_CHECK bool nsys_stream(struct nsys *nsys, const struct nsys_stream *stream,
                            struct label *label, struct err *err);

// Kineto's word for a copyKind: "HtoD". Numbers from 1 to below NSYS_COPY_KINDS are known.
enum { NSYS_COPY_KINDS = 14 };
const char *nsys_copy_word(int64_t kind);

// The text of an NVTX range in columns text and id; false if it has none. Lives until the next row.
bool nsys_label(const struct text_table *texts, const struct rows *rows, unsigned text,
                struct str *label);
// Whether an NVTX eventType is a range rather than a mark or a name.
bool nsys_is_range(int64_t type);

// Each reads some tables. Kernels of NCCL are kept until their ranges are known, so devices come
// first, then calls, then ranges.
MUST_CHECK bool nsys_read_device(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_calls(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_ranges(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_facts(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_counters(struct nsys *nsys, struct err *err);

// Counts what is in the whole file, whichever process it belongs to.
MUST_CHECK bool nsys_count(const struct format_input *input, struct err *err);

#endif
