// SPDX-License-Identifier: Apache-2.0
// Decides what caused an idle gap, from what the host threads did in it.
#ifndef ANALYSIS_GAP_JUDGE_H
#define ANALYSIS_GAP_JUDGE_H

#include "analysis/gaps.h"
#include "analysis/host_view.h"
#include "analysis/gap_cause.h"
#include "analysis/overheads.h"
#include "analysis/stream_waits.h"

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
    struct overheads overheads;
    uint32_t overhead_at;     // the first one that ends after the moment looked at
    uint32_t *python_of;      // per row the row of Python frames of its thread
    struct host_view **views; // per row of a thread that launches, NULL until it is looked at
    struct gap_slice *slices; // of the gap at hand
    size_t slice_count, slice_cap;
};

// Pair with gap_judge_free, also on failure.
MUST_CHECK bool gap_judge_init(struct gap_judge *judge, const struct facts *facts, struct err *err);
void gap_judge_free(struct gap_judge *judge);

// Goes back to the begin of time, for the gaps of another device.
void gap_judge_restart(struct gap_judge *judge);

// Sets cause and host_event of a gap. Gaps must ascend in time. previous is the device event before
// the next one on its stream, or FACTS_NONE. Linear over the threads' rows, all gaps together.
MUST_CHECK bool gap_judge_decide(struct gap_judge *judge, struct gap *gap, uint32_t previous,
                                 struct err *err);

#endif
