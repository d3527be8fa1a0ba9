// SPDX-License-Identifier: Apache-2.0
// Looks at the tables that a process wrote before they are stored, a part at a time.
#ifndef SERVER_JOB_TABLES_H
#define SERVER_JOB_TABLES_H

#include "server/jobs/job_wire.h"

// Whether all of them are good, and no more than the order allows. ERR_FORMAT when they are not.
MUST_CHECK bool job_tables_check(int fd, const struct job_order *order, struct job_tables *tables,
                                 struct err *err);

#endif
