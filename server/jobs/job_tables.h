// SPDX-License-Identifier: Apache-2.0
// Looks at the tables that a process wrote before they are stored, a part at a time.
#ifndef SERVER_JOB_TABLES_H
#define SERVER_JOB_TABLES_H

#include "server/jobs/job_wire.h"

// When to give up: a part of few bytes may unpack to many.
struct job_stop {
    const struct progress *progress; // its cancel
    int64_t deadline_ns;             // of the monotonic clock
};

// Whether all of them are good, and no more than the order allows. ERR_FORMAT when they are not, or
// when looking takes too long; ERR_CANCELLED.
MUST_CHECK bool job_tables_check(int fd, const struct job_order *order, const struct job_stop *stop,
                                 struct job_tables *tables, struct err *err);

#endif
