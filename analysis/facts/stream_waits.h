// SPDX-License-Identifier: Apache-2.0
// Where the host made a stream wait for an event on another one.
#ifndef ANALYSIS_STREAM_WAITS_H
#define ANALYSIS_STREAM_WAITS_H

#include "analysis/facts/facts.h"
#include "analysis/names/host_traits.h"
#include "analysis/stats/sort.h"

struct stream_waits {
    const struct facts *facts;
    uint32_t *calls; // calls like cudaStreamWaitEvent, ascending
    uint32_t call_count;
    uint32_t *rows; // recorded waits that give their stream (cuda_sync), ascending
    uint32_t row_count;
    struct keyed *holds; // calls that make a stream wait for the host or another process, by begin
    uint32_t hold_count;
    uint32_t *notes_of; // per row of a stream, the row of its notes, or FACTS_NONE
};

// Arrays live in arena.
MUST_CHECK bool stream_waits_make(const struct facts *facts, struct host_traits *traits,
                                  struct arena *arena, struct stream_waits *waits, struct err *err);

// The wait behind which a device event was queued, or FACTS_NONE: the last one recorded for its
// stream between the launch of `previous` (the event before it there, or FACTS_NONE) and its own;
// in a trace without such rows, a call between its launch and the previous one on the launching
// thread. Otherwise what stream_waits_held finds.
uint32_t stream_waits_find(const struct stream_waits *waits, uint32_t device, uint32_t previous);

// The last call that made a stream wait for the host or another process between the launches of
// `previous` and of the event, on any thread, or FACTS_NONE.
uint32_t stream_waits_held(const struct stream_waits *waits, uint32_t device, uint32_t previous);

#endif
