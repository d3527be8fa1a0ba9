// SPDX-License-Identifier: Apache-2.0
// The process that does one job: starting it, watching it, believing little of what it says.
#ifndef SERVER_JOB_CHILD_H
#define SERVER_JOB_CHILD_H

#include "server/jobs/job_wire.h"
#include "server/jobs/shared_page.h"

struct job_child_task {
    struct job_order order;
    struct pipeline_files files; // stay the caller's
    int tables;                  // an empty file for what is found; stays the caller's
    struct cores *cores;         // of which the job holds one
    int cores_fd;                // struct cores_page
    int64_t limit_ns;            // of wall time
    struct progress *progress;   // kept up to date; its cancel ends the process
    int64_t job_id;              // for log lines
};

// How a process ended that gave no answer: "crashed" "SIGSEGV", "was stopped" "...".
struct job_death {
    const char *verb; // NULL: it gave one
    char detail[120];
};

// Runs the job and waits for it. True: *reply is as it said, and when reply->ok the tables are good
// ones, of which it has the sums. False: with death->verb, the process is to blame; else
// ERR_CANCELLED, or ERR_BUSY when none could be started now. No process, descriptor or core is left
// over in any case.
MUST_CHECK bool job_child_run(const struct job_child_task *task, struct job_reply *reply,
                              struct job_death *death, struct err *err);

#endif
