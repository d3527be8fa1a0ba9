// SPDX-License-Identifier: Apache-2.0
// Reads one stream on several cores. The stream is cut where an item seems to start; free cores
// read the pieces on that assumption, and the reader takes over those that start exactly where it
// arrives. It reads every other byte itself, so the result does not depend on the cuts.
#ifndef INGEST_SPLIT_H
#define INGEST_SPLIT_H

#include "ingest/base/budget.h"
#include "ingest/base/cores.h"
#include "ingest/source/source.h"

// The text is followed by a NUL and SIMD_SLACK readable bytes.
struct split_piece {
    char *text;
    size_t len;
    uint64_t base; // offset of text[0] in the stream
};

// What a format does with pieces. A part reads one piece after another, each absorbed before the
// next.
struct split_ops {
    // Offset in text after the last item that seems to be followed by another; 0: none.
    size_t (*cut)(struct str text);
    void *(*open)(struct budget *budget, struct err *err);
    void (*close)(void *part); // NULL is allowed
    // Reads items from the start up to the first one that cannot be understood on its own. *stop
    // becomes the stream offset where it stopped.
    bool (*read)(void *part, const struct split_piece *piece, uint64_t *stop, struct err *err);
    // Moves what the part read into the whole, which has read everything before it.
    bool (*absorb)(void *whole, void *part, struct err *err);
};

struct split_plan {
    const struct split_ops *ops;
    struct budget *budget;
    struct cores *cores;
    size_t piece_bytes;
};

struct split;

// Splits the rest of `below`, which starts at offset `at` of the stream. *split stays NULL if no
// core is free. At most two more pieces than helpers are in memory.
MUST_CHECK bool split_open(struct split **split, const struct split_plan *plan,
                           struct source *below, uint64_t at, struct err *err);
void split_close(struct split *split); // NULL is allowed; below stays open

// The stream as seen by the reader. No read crosses the end of a piece.
struct source *split_source(struct split *split);

// Called when the reader has consumed all it was given and is between items: takes over the next
// piece if it was cut exactly there. *at becomes the offset where the reader continues.
MUST_CHECK bool split_take(struct split *split, void *whole, uint64_t *at, struct err *err);

#endif
