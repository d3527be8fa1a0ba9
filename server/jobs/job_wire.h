// SPDX-License-Identifier: Apache-2.0
// The messages between the service and a job's child process. Its reply is not trusted: it has read
// untrusted files.
#ifndef SERVER_JOB_WIRE_H
#define SERVER_JOB_WIRE_H

#include "server/base/pipeline.h"

#include "analysis/names/peaks.h"

// The process's descriptors. It has no others and opens none.
enum job_fd {
    JOB_FD_ORDER,
    JOB_FD_REPLY,
    JOB_FD_LOG, // standard error
    JOB_FD_INPUT,
    JOB_FD_KEPT,
    JOB_FD_KEEP,
    JOB_FD_TABLES, // what it found: report_parts.h, or members.h
    JOB_FD_CORES,  // struct cores_page
    JOB_FD_PAGE,   // struct job_page
    JOB_FD_COUNT
};

// The work to do.
struct job_order {
    int64_t service_pid;
    uint64_t memory_bytes;                           // budget of the job, 0: none
    uint64_t address_bytes, cpu_seconds, file_bytes; // limits of the process
    uint64_t tables_bytes;                           // most that its tables may take, 0: any
    bool has_input, has_kept, has_keep;              // which descriptors are open
    bool joins;                                      // joins the ranks in the input
    bool unpacks;                                    // the archive that the input is
    bool gathers;                                    // what the input says about its run
    struct str filename;                             // of the input, for unpacks and gathers
    int64_t process;                                 // of the input; 0: it has one
    uint64_t unpack_bytes;                           // most that its members may take
    struct analysis_options options;                 // without cores
    struct peaks peaks;                              // target of options.peaks after reading
};

#define JOB_ORDER_MAX_BYTES ((size_t)4 << 20)

void job_wire_put_order(const struct job_order *order, struct buf *out);

// Strings live in arena. order->options.peaks points into *order.
MUST_CHECK bool job_wire_take_order(struct str bytes, struct arena *arena, struct job_order *order,
                                    struct err *err);

// The tables it wrote, measured by the service.
struct job_tables {
    uint64_t plain_bytes;
    uint64_t join_bytes; // of those in run_rank_tables
    int64_t secrets;     // for the trust report
};

// The result.
struct job_reply {
    bool ok;                      // found is set and its tables are written; else err is
    unsigned walls;               // of the sandbox
    struct pipeline_result found; // without the strings of its identity
    struct job_tables tables;     // not part of the message
    struct err err;
};

#define JOB_REPLY_MAX_BYTES ((size_t)4096)

void job_wire_put_reply(const struct job_reply *reply, struct buf *out);

// Checks everything. ERR_FORMAT if it is not a valid reply; an error that the process reports is in
// reply->err.
MUST_CHECK bool job_wire_take_reply(struct str bytes, struct job_reply *reply, struct err *err);

#endif
