// SPDX-License-Identifier: Apache-2.0
// What the readers of an Nsight Systems export share. Tables and columns come and go with its
// version, so each reader takes what is there; see ingest/nsys/README.md for the tables.
#ifndef INGEST_NSYS_NSYS_H
#define INGEST_NSYS_NSYS_H

#include "ingest/format.h"
#include "ingest/sqlite/event_rows.h"
#include "ingest/sqlite/text_table.h"

// An export while one process of it is read.
struct nsys {
    const struct format_input *input;
    struct trace_builder *builder;
    struct database *database;
    struct text_table texts;
    struct nccl *nccl;
    int64_t process;       // globalPid of the process to read; FORMAT_WHOLE: the first one found
    uint64_t rows;         // read so far, of any table
    uint64_t used_devices; // bits by number, below 64
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

// Reports progress. False with ERR_CANCELLED.
MUST_CHECK bool nsys_go_on(struct nsys *nsys, struct err *err);

// The processes that used a device, by device and process.
MUST_CHECK bool nsys_parts(struct source *source, struct format_parts *parts, struct err *err);
MUST_CHECK bool nsys_processes(struct database *database, struct format_parts *parts,
                               struct err *err);

// Kineto's word for a copyKind: "HtoD".
const char *nsys_copy_word(int64_t kind);

// The text of an NVTX range in columns text and id; false if it has none. Lives until the next row.
bool nsys_label(const struct nsys *nsys, const struct rows *rows, unsigned text, struct str *label);
// Whether an NVTX eventType is a range rather than a mark or a name.
bool nsys_is_range(int64_t type);

// Each reads some tables. Kernels of NCCL are kept until their ranges are known, so devices come
// first, then calls, then ranges.
MUST_CHECK bool nsys_read_device(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_calls(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_ranges(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_facts(struct nsys *nsys, struct err *err);
MUST_CHECK bool nsys_read_counters(struct nsys *nsys, struct err *err);

// Counts what is in the whole file, whichever process it belongs to, with the first process.
MUST_CHECK bool nsys_count(struct nsys *nsys, struct err *err);

#endif
