// SPDX-License-Identifier: Apache-2.0
// The rank that a file name gives away.
#ifndef SERVER_RANK_NAME_H
#define SERVER_RANK_NAME_H

#include "ingest/base/str.h"

// rank0.json, rank-34/trace.json.gz, host_rank_3.1699.pt.trace.json, worker_r12.json.zst: the
// number behind the last "rank", or behind "_r" or "-r" at a word's begin. -1 when there is none.
int64_t rank_of_filename(struct str path);

#endif
