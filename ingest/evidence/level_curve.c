// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/level_curve.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void keep(struct level_piece *piece, enum level_extreme extreme,
                 const struct level_point *point, bool better)
{
    if (piece->changes == 0 || better)
        piece->at[extreme] = *point;
}

// Adds a point later than all others of the piece.
static void add_point(struct level_piece *piece, const struct level_point *point)
{
    keep(piece, LEVEL_FIRST, point, false);
    keep(piece, LEVEL_LEAST, point, point->allocated < piece->at[LEVEL_LEAST].allocated);
    keep(piece, LEVEL_MOST, point, point->allocated > piece->at[LEVEL_MOST].allocated);
    keep(piece, LEVEL_LEAST_RESERVED, point,
         point->reserved < piece->at[LEVEL_LEAST_RESERVED].reserved);
    keep(piece, LEVEL_MOST_RESERVED, point,
         point->reserved > piece->at[LEVEL_MOST_RESERVED].reserved);
    keep(piece, LEVEL_LAST, point, true);
    piece->changes++;
}

static int by_order(const void *left, const void *right)
{
    const struct level_point *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

// The points of a piece in order, none twice.
static size_t points_of(const struct level_piece *piece, struct level_point *points)
{
    size_t count = 0;
    if (piece->changes == 0)
        return 0;
    memcpy(points, piece->at, sizeof piece->at);
    qsort(points, LEVEL_EXTREMES, sizeof *points, by_order);
    for (size_t i = 0; i < LEVEL_EXTREMES; i++)
        if (count == 0 || points[i].order != points[count - 1].order)
            points[count++] = points[i];
    return count;
}

static void join(struct level_piece *to, const struct level_piece *from)
{
    struct level_point points[LEVEL_EXTREMES];
    size_t count = points_of(from, points);
    for (size_t i = 0; i < count; i++)
        add_point(to, &points[i]);
}

// Doubles the width of the pieces.
static void widen(struct level_curve *curve)
{
    for (size_t i = 0; i < LEVEL_PIECES; i++) {
        struct level_piece joined = {0};
        for (size_t from = 2 * i; from < 2 * i + 2 && from < LEVEL_PIECES; from++)
            join(&joined, &curve->pieces[from]);
        curve->pieces[i] = joined;
    }
    curve->width_us *= 2;
}

void level_curve_add(struct level_curve *curve, int64_t time_us, int64_t allocated,
                     int64_t reserved)
{
    struct level_point point = {curve->changes, time_us, allocated, reserved};
    if (curve->changes++ == 0) {
        curve->begin_us = time_us;
        curve->width_us = 1;
    }
    uint64_t since = (uint64_t)time_us - (uint64_t)curve->begin_us;
    while (since / (uint64_t)curve->width_us >= LEVEL_PIECES)
        widen(curve);
    add_point(&curve->pieces[since / (uint64_t)curve->width_us], &point);
}

size_t level_curve_points(const struct level_curve *curve,
                          struct level_point points[LEVEL_MOST_POINTS])
{
    size_t count = 0;
    for (size_t i = 0; i < LEVEL_PIECES; i++)
        count += points_of(&curve->pieces[i], points + count);
    return count;
}
