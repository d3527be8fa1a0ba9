// SPDX-License-Identifier: Apache-2.0
// The tables of a run's ranks in one file, which a process joins.
#ifndef SERVER_JOB_RANKS_H
#define SERVER_JOB_RANKS_H

#include "server/store/store.h"

// Appends the tables of a rank that joining reads, as they are stored.
MUST_CHECK bool job_ranks_write(struct store *store, const struct rank_trace *rank, int fd,
                                struct err *err);

// Appends the tables of an attachment that was read; after all ranks.
MUST_CHECK bool job_ranks_write_evidence(struct store *store, struct str input_id, int fd,
                                         struct err *err);

// The ranks in such a file, and the attachments. Results live in arena, and the file must stay
// open.
MUST_CHECK bool job_ranks_read(int fd, struct arena *arena, struct rank_source *source,
                               struct err *err);

#endif
