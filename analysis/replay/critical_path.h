// SPDX-License-Identifier: Apache-2.0
// The chain of work and delays that made a step as long as it was.
#ifndef ANALYSIS_CRITICAL_PATH_H
#define ANALYSIS_CRITICAL_PATH_H

#include "analysis/replay/rank_graph.h"

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
    uint32_t node; // whose time it is, or that was delayed; REPLAY_NONE: the step's end
    bool is_delay;
    int64_t ns; // positive
};

// A step in a replay: what ends it, and from when to when it lasts.
struct path_span {
    const struct replay_graph *graph;
    const int64_t *dur, *end;
    uint32_t node; // REPLAY_NONE: none
    int64_t begin_ns, end_ns;
};

// Who receives the pieces.
struct path_reader {
    bool (*visit)(void *context, const struct path_piece *piece, struct err *err);
    void *context;
};

// Reads a step's path, last piece first; the pieces sum to the span exactly. Linear in the pieces.
MUST_CHECK bool critical_path_read(const struct path_span *span, const struct path_reader *reader,
                                   struct err *err);

// What the time of a rank's node counts as.
enum path_part path_part_of(const struct facts *facts, const struct rank_graph *graph,
                            uint32_t node);

// Time on the path, by part. A rank's answer adds up those of its steady steps.
struct path_sums {
    int64_t ns[PATH_PARTS];
};

#endif
