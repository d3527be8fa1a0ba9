// SPDX-License-Identifier: Apache-2.0
// Two ranks that wait for each other in a send or receive.
#ifndef ANALYSIS_HANGS_HANG_PAIRS_H
#define ANALYSIS_HANGS_HANG_PAIRS_H

#include "analysis/hangs/hang_seats.h"

// The dump of the other end of its oldest unfinished send or receive; NULL: none.
struct hang_dump *hang_peer(const struct hang_job *job, const struct hang_dump *dump);

// An unfinished operation in the opposite direction that may meet what the peer has: one that need
// not wait for the oldest, of another group or of its batch, which completes in any order; else the
// next one queued behind it with the same peer. NULL: none.
const struct flight_entry *hang_counterpart(const struct hang_dump *dump);

// Oldest sends and receives of two ranks with each other that cannot meet.
struct hang_pair {
    const struct hang_dump *ends[2]; // by rank; NULL: none found
    bool same_way;                   // both send, or both receive; otherwise their sizes differ
};

// The first by rank; those with different sizes come before those that go the same way.
struct hang_pair hang_pair_find(const struct hang_job *job);

#endif
