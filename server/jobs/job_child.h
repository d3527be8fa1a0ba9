// SPDX-License-Identifier: Apache-2.0
// The process that does one job: starting it, watching it, and checking everything it reports.
#ifndef SERVER_JOB_CHILD_H
#define SERVER_JOB_CHILD_H

#include "server/jobs/job_wire.h"
#include "server/jobs/shared_page.h"

struct job_child_task {
    struct job_order order;
    struct pipeline_files files; // still owned by the caller
    int tables;                  // an empty file for the results; still owned by the caller
    struct cores *cores;         // the job holds one of these
    int cores_fd;                // struct cores_page
    int64_t limit_ns;            // of wall time
    struct progress *progress;   // kept up to date; its cancel ends the process
    int64_t job_id;              // for log lines
};

// How a process ended without a reply: "crashed" "SIGSEGV", "was stopped" "...".
struct job_death {
    const char *verb; // NULL: it replied
    char detail[120];
};

// Runs the job and waits for it. True: *reply is the process's reply, and if reply->ok the tables
// are valid, with their sums in it. False: with death->verb, the process died; else ERR_CANCELLED,
// or ERR_BUSY if none could be started now. No process, descriptor or core is left over in any
// case.
MUST_CHECK bool job_child_run(const struct job_child_task *task, struct job_reply *reply,
                              struct job_death *death, struct err *err);

#endif
