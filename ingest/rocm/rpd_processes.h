// SPDX-License-Identifier: Apache-2.0
// The processes of an rpd file, into which several may record at once. Only calls say whose they
// are: work belongs to the process that launched it. Processes without work, such as workers that
// load data, are none of their own.
#ifndef INGEST_ROCM_RPD_PROCESSES_H
#define INGEST_ROCM_RPD_PROCESSES_H

#include "ingest/source/device_users.h"
#include "ingest/sqlite/id_table.h"

struct rpd_processes {
    struct id_table of_calls; // the process of each call; empty if there is only one
    struct device_users users;
};

// calls_of_ops: the call of each operation. Pair with rpd_processes_free, also on failure.
MUST_CHECK bool rpd_processes_load(struct rpd_processes *processes, struct database *database,
                                   const struct id_table *calls_of_ops, struct err *err);
void rpd_processes_free(struct rpd_processes *processes);

// Whose the work of a call is, or what is known of a GPU without one (ID_NONE).
int64_t rpd_process_of(const struct rpd_processes *processes, int64_t call, int64_t gpu);

// format.parts
MUST_CHECK bool rpd_parts(struct source *source, struct format_parts *parts, struct err *err);

#endif
