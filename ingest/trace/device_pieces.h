// SPDX-License-Identifier: Apache-2.0
// How a trace's devices spend their time, in pieces of equal length: from an open trace file, in
// memory that does not depend on its events.
#ifndef INGEST_TRACE_DEVICE_PIECES_H
#define INGEST_TRACE_DEVICE_PIECES_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace_file_open.h"

// Exclusive parts of a piece: what no part before it covers. The rest is idle.
enum piece_part { PIECE_COMPUTE, PIECE_COMMUNICATION, PIECE_COPY, PIECE_PARTS };

// How to get from the times in a file to those of a common clock.
struct piece_clock {
    int64_t base_ns, offset_ns; // added to all times
    double drift;               // added per nanosecond since origin_ns
    int64_t origin_ns;          // by the file's clock
    int64_t jump_ns;            // added from jump_after_ns after origin_ns on
    int64_t jump_after_ns;
};

// Time on the common clock; never overflows if base and offset are within TRACE_MAX_NS.
int64_t piece_clock_at(const struct piece_clock *clock, int64_t file_ns);

// Piece i covers 1 << width_bits ns from (first + i) << width_bits on.
struct device_pieces {
    uint32_t width_bits;
    int64_t first;
    uint32_t count;
    uint32_t devices;         // time is summed over them
    int64_t *ns[PIECE_PARTS]; // of each piece
};

// Fills pieces (width_bits, first and count are given) with what the file's device events cover;
// what is outside is left out. The result lives in arena. ERR_FORMAT, ERR_LIMIT.
MUST_CHECK bool device_pieces_read(const struct trace_file *file, const struct piece_clock *clock,
                                   struct arena *arena, struct device_pieces *pieces,
                                   struct err *err);

#endif
