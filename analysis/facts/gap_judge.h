// SPDX-License-Identifier: Apache-2.0
// Decides what caused an idle gap, from what the host threads did in it.
#ifndef ANALYSIS_GAP_JUDGE_H
#define ANALYSIS_GAP_JUDGE_H

#include "analysis/facts/gaps.h"
#include "analysis/facts/host_view.h"
#include "analysis/names/gap_cause.h"
#include "analysis/facts/overheads.h"
#include "analysis/facts/pending.h"

// A piece of a gap: what held the next event back then, and the host event that says so.
struct gap_slice {
    int64_t ns;
    uint32_t event;
    uint8_t cause;
};

struct gap_judge {
    const struct facts *facts;
    struct arena arena;
    struct host_traits traits;
    struct stream_waits waits;
    struct overheads overheads[2]; // of the profiler, and loading of code
    uint32_t overhead_at[2];       // the first one that ends after the moment looked at
    struct pending *pending;       // per device event
    // Per position of the list at hand: since when the first launched of what is left stands
    // launched, PENDING_UNKNOWN where that is held.
    int64_t *pending_ns;
    const struct gap_list *merged; // gaps of all devices, when those of one are judged
    uint32_t merged_at;            // the first one that ends after the moment looked at
    uint32_t *python_of;           // per row the row of Python frames of its thread
    uint32_t *computes;            // per launch: the first from it on that computes, or the count
    struct host_view **views;      // per row of a thread that launches, NULL until it is looked at
    struct gap_slice *slices;      // of the gap at hand
    size_t slice_count, slice_cap;
};

// Pair with gap_judge_free, also on failure.
MUST_CHECK bool gap_judge_init(struct gap_judge *judge, const struct facts *facts, struct err *err);
void gap_judge_free(struct gap_judge *judge);

// Device events in order of begin, whose gaps are judged; list NULL: all of them.
struct gap_scope {
    const uint32_t *list;
    uint32_t count;
    const struct gap_list *merged; // NULL when these are all devices
};

// Goes back to the start, for the gaps of other devices.
void gap_judge_start(struct gap_judge *judge, const struct gap_scope *scope);

// Where a gap stands: the position of the event that ends it in the scope, or its count, and the
// device event before that one on its stream, or FACTS_NONE.
struct gap_place {
    uint32_t position, previous;
};

// Sets cause and host_event of a gap. Gaps must ascend in time. Linear over the threads' rows, all
// gaps together.
MUST_CHECK bool gap_judge_decide(struct gap_judge *judge, struct gap *gap, struct gap_place place,
                                 struct err *err);

#endif
