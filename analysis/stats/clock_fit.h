// SPDX-License-Identifier: Apache-2.0
// How one clock strays from the others: at a constant rate (drift), by jumps when it is set, or not
// at all, as far as the noise lets one tell.
#ifndef ANALYSIS_CLOCK_FIT_H
#define ANALYSIS_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_FIT_MIN   6  // points; fewer say nothing
#define CLOCK_FIT_MAX   32 // points
#define CLOCK_FIT_JUMPS 4

struct clock_point {
    double time_ns; // ascending
    double away_ns; // from the others
};

struct clock_fit {
    double drift; // ns per ns; 0 when it is not significant
    double slope; // same, significant or not
    unsigned jump_count;
    struct {
        unsigned point; // the first point after the jump
        double by_ns;
    } jumps[CLOCK_FIT_JUMPS]; // ascending
};

// A jump is accepted if the levels before and after it, without drift, differ by at least 50 us and
// by eight times the noise of the points; a drift if it is eight times its standard error (both
// more with few points), between 0.5 and 1,000 ppm, and makes at least 1 us over the points.
struct clock_fit clock_fit_make(const struct clock_point *points, size_t count);

// The slope from points close to each other, which jumps hardly affect; points whose away_ns is NAN
// do not count.
double clock_fit_slope(const struct clock_point *points, size_t count);

static inline bool clock_fit_is_straight(const struct clock_fit *fit)
{
    return fit->drift == 0 && fit->jump_count == 0;
}

#endif
