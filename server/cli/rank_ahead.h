// SPDX-License-Identifier: Apache-2.0
// Reads several trace files of a run at once, each on a free core.
#ifndef SERVER_RANK_AHEAD_H
#define SERVER_RANK_AHEAD_H

#include "server/cli/rank_files.h"

// What was made of a file.
struct rank_ahead {
    bool done; // otherwise it has to be read as if nobody had tried
    struct buf saved;
    int64_t rank; // as its metadata says
    int kept;     // as of struct rank_file
};

// All of them together take the memory of one, and no more files at a time than there are cores.
// Files that are no plain trace of one process, or fail, are left undone. A NULL path: none.
void rank_ahead_read(struct rank_ahead *ahead, const char *const *paths, size_t count,
                     const struct rank_files_options *options);
void rank_ahead_free(struct rank_ahead *ahead, size_t count);

// Makes the report of an opened trace, which is closed, and says which rank it is. *kept is -1
// unless the sealed trace was kept.
MUST_CHECK bool rank_ahead_analyze(struct source *source, const struct format_found *found,
                                   const struct rank_files_options *options, struct budget *budget,
                                   struct rank_ahead *made, struct err *err);

#endif
