// SPDX-License-Identifier: Apache-2.0
// The rank in a file name.
#ifndef SERVER_RANK_NAME_H
#define SERVER_RANK_NAME_H

#include "ingest/base/str.h"

struct rank_name {
    int64_t rank;      // -1: none
    struct str folder; // up to that whose name says it, with its slash; "": the file's name does
};

// rank0.json, rank-34/trace.json.gz, host_rank_3.1699.pt.trace.json, worker_r12.json.zst: the
// number after the last "rank", or after "_r" or "-r" at the start of a word. Of a file also that
// in report_3.sqlite, as it is called by nsys profile -o report_%q{RANK}; report3.sqlite is the
// third report of a folder to nsys itself. A folder with all of several traces is no rank's: that
// is for the caller to see.
struct rank_name rank_name_of(struct str path);

#endif
