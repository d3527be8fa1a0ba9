// SPDX-License-Identifier: Apache-2.0
// Reads one stream on several cores. The stream is cut where an item seems to begin; free cores
// read the pieces as if that were so, and the reader takes those over that begin exactly where it
// arrives. Every other byte it reads itself, so what is read does not depend on the cuts.
#ifndef INGEST_SPLIT_H
#define INGEST_SPLIT_H

#include "ingest/base/budget.h"
#include "ingest/base/cores.h"
#include "ingest/source.h"

// A NUL and SIMD_SLACK readable bytes stand after the text.
struct split_piece {
    char *text;
    size_t len;
    uint64_t base; // offset of text[0] in the stream
};

// What a format does with pieces. A part reads one piece after the other, each absorbed before the
// next.
struct split_ops {
    // Offset in text after the last item that seems to be followed by another one; 0: none.
    size_t (*cut)(struct str text);
    void *(*open)(struct budget *budget, struct err *err);
    void (*close)(void *part); // NULL is allowed
    // Reads items from the begin on, up to the first one that takes more than itself to be
    // understood. *stop becomes the offset in the stream where it stopped.
    bool (*read)(void *part, const struct split_piece *piece, uint64_t *stop, struct err *err);
    // Moves what the part read to the whole, which has read all that comes before.
    bool (*absorb)(void *whole, void *part, struct err *err);
};

struct split_plan {
    const struct split_ops *ops;
    struct budget *budget;
    struct cores *cores;
    size_t piece_bytes;
};

struct split;

// Splits what is left of `below`, which begins at offset `at` of the stream. *split stays NULL when
// no core is free. At most two pieces more than helpers are in memory.
MUST_CHECK bool split_open(struct split **split, const struct split_plan *plan,
                           struct source *below, uint64_t at, struct err *err);
void split_close(struct split *split); // NULL is allowed; below stays open

// The stream as the reader reads it. No read goes beyond the end of a piece.
struct source *split_source(struct split *split);

// Where the reader consumed all that it was given and stands among the items: takes over the next
// piece, if it was cut right there. *at becomes the offset where the reader goes on.
MUST_CHECK bool split_take(struct split *split, void *whole, uint64_t *at, struct err *err);

#endif
