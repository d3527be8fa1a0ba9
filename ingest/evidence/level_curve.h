// SPDX-License-Identifier: Apache-2.0
// Two levels over time, with any number of changes in little memory: for each of a few hundred
// equal pieces of time, the first and last change and the extremes of both levels.
#ifndef INGEST_EVIDENCE_LEVEL_CURVE_H
#define INGEST_EVIDENCE_LEVEL_CURVE_H

#include <stddef.h>
#include <stdint.h>

struct level_point {
    uint64_t order;
    int64_t time_us, allocated, reserved;
};

enum level_extreme {
    LEVEL_FIRST,
    LEVEL_LEAST,
    LEVEL_MOST,
    LEVEL_LEAST_RESERVED,
    LEVEL_MOST_RESERVED,
    LEVEL_LAST,
    LEVEL_EXTREMES
};

struct level_piece {
    struct level_point at[LEVEL_EXTREMES];
    uint64_t changes; // 0: nothing changed in this time
};

enum { LEVEL_PIECES = 332, LEVEL_MOST_POINTS = LEVEL_PIECES * LEVEL_EXTREMES };

// Starts as zeros.
struct level_curve {
    int64_t begin_us, width_us; // of a piece
    uint64_t changes;
    struct level_piece pieces[LEVEL_PIECES];
};

// Times must not go back.
void level_curve_add(struct level_curve *curve, int64_t time_us, int64_t allocated,
                     int64_t reserved);

// The points in order, none twice; how many there are.
size_t level_curve_points(const struct level_curve *curve,
                          struct level_point points[LEVEL_MOST_POINTS]);

#endif
