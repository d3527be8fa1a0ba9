// SPDX-License-Identifier: Apache-2.0
// Which row of a lane a slice goes to, so that the slices of one row follow one another or nest:
// viewers drop or distort others.
#ifndef SERVER_LANE_ROWS_H
#define SERVER_LANE_ROWS_H

#include "ingest/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define LANE_MOST_ROWS 1024u
#define LANE_NO_ROW    UINT32_MAX // all are taken

struct lane_row {
    int64_t *ends; // of the open slices, the innermost last
    size_t depth, room;
};

struct lane_rows {
    struct lane_row *rows;
    uint32_t count;
    size_t room;
    bool nests; // slices may be within one another
};

// What to call when a slice of a row ends, before the next one begins on it.
struct lane_ends {
    void (*end)(void *context, uint32_t row, int64_t end_ns);
    void *context;
};

// The row of the next slice, which come by begin, then by descending end if they may nest;
// LANE_NO_ROW if none is left.
// False: out of memory.
MUST_CHECK bool lane_rows_place(struct lane_rows *rows, int64_t begin_ns, int64_t end_ns,
                                const struct lane_ends *ends, uint32_t *row);

// Ends what is open, for another lane.
void lane_rows_finish(struct lane_rows *rows, const struct lane_ends *ends);
void lane_rows_free(struct lane_rows *rows);

#endif
