// SPDX-License-Identifier: Apache-2.0
// The chain of work and delays that made a step as long as it was.
#ifndef ANALYSIS_CRITICAL_PATH_H
#define ANALYSIS_CRITICAL_PATH_H

#include "analysis/replay/whatif.h"

enum path_part {
    PATH_COMPUTE,
    PATH_COMMUNICATION,
    PATH_MEMORY,
    PATH_HOST,
    PATH_DELAY, // from what held something up to its start
    PATH_UNRECORDED,
    PATH_ERROR, // recorded step minus the replayed one; may be negative
    PATH_PARTS
};

// "compute", ...
const char *path_part_word(enum path_part part);

// A stretch of the path: time of a node, or the delay before it.
struct path_piece {
    enum path_part part;
    uint32_t node; // REPLAY_NONE: none
    uint32_t from; // of a delay: the node that held it up, or REPLAY_NONE
    int64_t ns;
};

// Who wants to know.
struct path_reader {
    bool (*visit)(void *context, const struct path_piece *piece, struct err *err);
    void *context;
};

// Reads a step's path, last piece first; the pieces sum to the recorded step exactly. end: of the
// unchanged replay. Linear in the pieces.
MUST_CHECK bool critical_path_read(const struct whatif *whatif, const int64_t *end, uint32_t step,
                                   const struct path_reader *reader, struct err *err);

// Sums of the steady steps' paths by part: together the recorded steps, to the nanosecond. Not for
// a rank that is refused.
MUST_CHECK bool critical_path_sums(const struct whatif *whatif, int64_t sums_ns[PATH_PARTS],
                                   struct err *err);

#endif
