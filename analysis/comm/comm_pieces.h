// SPDX-License-Identifier: Apache-2.0
// Where in a call its exposed time lies, so that a run can part it at the latest start, which a
// single trace does not know.
#ifndef ANALYSIS_COMM_PIECES_H
#define ANALYSIS_COMM_PIECES_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

// Stretches of a call that are kept. Of more the two are joined between or in which there is least
// time, so that a sum up to any moment stays exact to that time; those of different steps last.
#define COMM_PIECES_MAX 16

// Pieces of a call in order of time.
struct comm_piece {
    int64_t begin_ns, end_ns; // since the call's begin
    int64_t exposed_ns;       // less than its length where several are joined
    uint32_t step;            // of its begin
    struct comm_piece *next;
};

struct comm_pieces {
    struct arena *arena;
    struct comm_piece **of; // per call: the first
};

MUST_CHECK bool comm_pieces_open(struct comm_pieces *pieces, uint32_t calls, struct arena *arena,
                                 struct err *err);

// Pieces of one call must ascend; those that touch within a step become one. Nothing but times and
// step of the piece is read.
MUST_CHECK bool comm_pieces_add(struct comm_pieces *pieces, uint32_t call, struct comm_piece piece,
                                struct err *err);

// Appends "120+340 900+55/40": from 120 ns on 340 ns, and 40 of the 55 ns from 900 on.
void comm_pieces_put(const struct comm_pieces *pieces, uint32_t call, struct buf *text);

// The next piece of such a text, which moves on past it. False at its end, or where it is none.
bool comm_pieces_next(const char **text, struct comm_piece *piece);

// Exposed time of a piece up to a moment since the call's begin. Within joined pieces it is spread
// evenly.
int64_t comm_piece_before(const struct comm_piece *piece, int64_t until_ns);

// The same of a text. 0 for a text that is none.
int64_t comm_pieces_before(const char *text, int64_t until_ns);

#endif
