// SPDX-License-Identifier: Apache-2.0
// Decides what caused an idle gap, from what the host threads did during it.
#ifndef ANALYSIS_GAP_JUDGE_H
#define ANALYSIS_GAP_JUDGE_H

#include "analysis/facts/gaps.h"
#include "analysis/facts/host_view.h"
#include "analysis/names/gap_cause.h"
#include "analysis/facts/overheads.h"
#include "analysis/facts/pending.h"

// A piece of a gap: what held up the next event, and the host event that shows it.
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
    struct overheads overheads[2]; // of the profiler, and code loading
    uint32_t overhead_at[2];       // the first one that ends after the current moment
    struct pending *pending;       // per device event
    // Per position in the current list: since when the first-launched of the rest has been pending,
    // PENDING_UNKNOWN if it is held up.
    int64_t *pending_ns;
    const struct gap_list *merged; // gaps of all devices, when judging a single one
    uint32_t merged_at;            // the first one that ends after the current moment
    uint32_t *python_of;           // per row: the row with its thread's Python frames
    uint32_t *others_of;           // per row: the row with its thread's calls of the system
    uint32_t *computes;            // per launch: the first one from it on that computes, or the
                                   // count
    struct host_view **views;      // per row of a thread that launches, NULL until used
    struct gap_slice *slices;      // of the current gap
    size_t slice_count, slice_cap;
};

// Pair with gap_judge_free, even on failure.
MUST_CHECK bool gap_judge_init(struct gap_judge *judge, const struct facts *facts, struct err *err);
void gap_judge_free(struct gap_judge *judge);

// Device events by begin whose gaps are judged; list NULL: all of them.
struct gap_scope {
    const uint32_t *list;
    uint32_t count;
    const struct gap_list *merged; // NULL if these are all devices
};

// Restarts, for the gaps of other devices.
void gap_judge_start(struct gap_judge *judge, const struct gap_scope *scope);

// The place of a gap: the position in the scope of the event that ends it, or the count, and the
// previous device event on that event's stream, or FACTS_NONE.
struct gap_place {
    uint32_t position, previous;
};

// Sets cause and host_event of a gap. Gaps must ascend in time. Linear in the threads' rows over
// all gaps.
MUST_CHECK bool gap_judge_decide(struct gap_judge *judge, struct gap *gap, struct gap_place place,
                                 struct err *err);

#endif
