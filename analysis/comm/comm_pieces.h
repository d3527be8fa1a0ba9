// SPDX-License-Identifier: Apache-2.0
// Where in a call its exposed time is, so that a run can split it at the latest start, which a
// single trace does not know.
#ifndef ANALYSIS_COMM_PIECES_H
#define ANALYSIS_COMM_PIECES_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

// Most pieces kept per call. Beyond that, the two with the least time between or in them are
// joined, so that a sum up to any moment stays exact to within that time; pieces of different steps
// are joined last.
#define COMM_PIECES_MAX 16

// Pieces of a call in time order.
struct comm_piece {
    int64_t begin_ns, end_ns; // since the call's begin
    int64_t exposed_ns;       // less than its length if several are joined
    uint32_t step;            // where it begins
    struct comm_piece *next;
};

struct comm_pieces {
    struct arena *arena;
    struct comm_piece **of; // per call: the first
};

MUST_CHECK bool comm_pieces_open(struct comm_pieces *pieces, uint32_t calls, struct arena *arena,
                                 struct err *err);

// Pieces of one call must ascend; those that touch within a step become one. Only times and step of
// the piece are read.
MUST_CHECK bool comm_pieces_add(struct comm_pieces *pieces, uint32_t call, struct comm_piece piece,
                                struct err *err);

// Appends "120+340 900+55/40": from 120 ns on 340 ns, and 40 of the 55 ns from 900 on.
void comm_pieces_put(const struct comm_pieces *pieces, uint32_t call, struct buf *text);

// The next piece of such a text, which is advanced past it. False at its end, or if it is
// malformed.
bool comm_pieces_next(const char **text, struct comm_piece *piece);

// Exposed time of a piece up to a moment since the call's begin. Within joined pieces it is spread
// evenly.
int64_t comm_piece_before(const struct comm_piece *piece, int64_t until_ns);

// Same for a text. 0 if it is malformed.
int64_t comm_pieces_before(const char *text, int64_t until_ns);

#endif
