// SPDX-License-Identifier: Apache-2.0
// The tables of a run's ranks as a file that a process joins.
#ifndef SERVER_JOB_RANKS_H
#define SERVER_JOB_RANKS_H

#include "server/store/store.h"

// Appends what joining reads of a rank, as it is stored.
MUST_CHECK bool job_ranks_write(struct store *store, const struct rank_trace *rank, int fd,
                                struct err *err);

// The ranks in such a file; what it makes lives in arena, and the file must stay.
MUST_CHECK bool job_ranks_read(int fd, struct arena *arena, struct rank_source *source,
                               struct err *err);

#endif
