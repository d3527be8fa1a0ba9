// SPDX-License-Identifier: Apache-2.0
// The rank in a file name.
#ifndef SERVER_RANK_NAME_H
#define SERVER_RANK_NAME_H

#include "ingest/base/str.h"

// rank0.json, rank-34/trace.json.gz, host_rank_3.1699.pt.trace.json, worker_r12.json.zst: the
// number after the last "rank", or after "_r" or "-r" at the start of a word. -1 if there is none.
int64_t rank_of_filename(struct str path);

#endif
