// SPDX-License-Identifier: Apache-2.0
// Checks the tables written by a child process, one part at a time, before they are stored.
#ifndef SERVER_JOB_TABLES_H
#define SERVER_JOB_TABLES_H

#include "server/jobs/job_wire.h"

// When to give up: a few bytes may decompress to many.
struct job_stop {
    const struct progress *progress; // its cancel
    int64_t deadline_ns;             // of the monotonic clock
};

// Whether all tables are valid and within the order's limits. ERR_FORMAT if they are not, or if the
// check takes too long; ERR_CANCELLED.
MUST_CHECK bool job_tables_check(int fd, const struct job_order *order, const struct job_stop *stop,
                                 struct job_tables *tables, struct err *err);

#endif
