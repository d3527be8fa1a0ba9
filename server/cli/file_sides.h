// SPDX-License-Identifier: Apache-2.0
// A side of a comparison read from trace files: each run is a file, or an archive or folder of
// ranks.
#ifndef SERVER_FILE_SIDES_H
#define SERVER_FILE_SIDES_H

#include "analysis/compare/compare.h"
#include "server/cli/rank_files.h"

// One run that was read: what a comparison needs of it.
struct file_run {
    const char *name; // as given
    struct rank_files files;
    struct report rank; // of the rank that represents it
    struct compare_rank which;
    struct arena arena; // of that report
};

struct file_side {
    struct file_run *runs;
    size_t count, copies;      // copies: further runs with the same files, which do not count
    struct compare_run *named; // same, for a comparison
    struct compare_side side;  // of these
};

struct file_side_options {
    struct rank_files_options reading;
    bool slowest;            // the slowest rank represents a run
    int64_t base_rank;       // that represents the base's first run, -1 to read that
    int64_t tokens_per_step; // of each run, 0: not known
};

// Reads an operand: a trace file, an archive of traces, a folder, or several of these joined by
// commas, which are repeats (an operand that exists as a file is not split). Tables of a run's
// other ranks are freed before the next run is read. A repeat whose rank was recorded in the same
// bytes as another's is a copy of it and is left out. Fails with the code of the first file that
// cannot be read. Call file_side_free even if it fails.
MUST_CHECK bool file_side_read(struct file_side *side, const char *operand,
                               const struct file_side_options *options, struct arena *arena,
                               struct err *err);
void file_side_free(struct file_side *side);

// Removes the folders common to all runs of some sides from their names.
void file_sides_shorten(struct file_side *sides, size_t count);

#endif
