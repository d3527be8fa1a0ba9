// SPDX-License-Identifier: Apache-2.0
// Finds a recording of busy and idle times in samples of utilization whose clock is another.
#ifndef ANALYSIS_STATS_BUSY_MATCH_H
#define ANALYSIS_STATS_BUSY_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Busy time of a window in equal pieces.
struct busy_profile {
    int64_t begin_ns, window_ns; // on the recording's clock
    const int64_t *before_ns;    // busy time before each piece, and of all: pieces + 1 values
    size_t pieces;               // 1 or more
};

// Share of that time that was busy, NAN unless it is within the window. Within a piece busy time
// counts as spread evenly.
double busy_share(const struct busy_profile *profile, int64_t from_ns, int64_t to_ns);

// Samples in the order of time, each the share of the period before it.
struct busy_samples {
    const int64_t *time_ns;
    const double *share;
    size_t count;
};

// A recording and the samples of its GPU. All pairs have the same clocks.
struct busy_pair {
    struct busy_profile profile;
    struct busy_samples samples;
};

struct busy_search {
    const struct busy_pair *pairs;
    size_t count;
    int64_t period_ns;         // between samples, above 0
    const int64_t *offsets_ns; // to try; NULL: all at which the samples cover half of what they can
    size_t offset_count;
    double *work; // left for searches, in samples compared: one that takes more is not made
};

struct busy_match {
    bool tried; // whether there were enough samples, not all alike
    bool unique;
    int64_t offset_ns;  // to be added to times of samples
    double r, other_r;  // there, and at the best offset further away than two periods; NAN: none
    size_t samples;     // that were compared
    double independent; // how many independent samples say as much: neighbors are mostly alike
};

// Unique is an offset whose correlation is high, not a coincidence among that many offsets, and
// clearly above that of every other.
struct busy_match busy_match_find(const struct busy_search *search);

#endif
