// SPDX-License-Identifier: Apache-2.0
// Which calls of ranks belong together when not all ranks have recorded the same calls.
#ifndef ANALYSIS_RUN_MISFIT_H
#define ANALYSIS_RUN_MISFIT_H

#include "ingest/base/arena.h"

// One call of one rank; small, because a group of all ranks has millions.
struct misfit_call {
    uint32_t symbol;  // hash of what kind and size it is of
    uint32_t stepped; // hash of the same with its step
    int64_t end_ns;   // by the rank's own clock
    uint32_t dur_ns;  // UINT32_MAX: that or more
    uint32_t index;   // the caller's
};

// The calls of one rank.
struct misfit_lane {
    struct misfit_call *calls;
    uint32_t count;
};

struct misfit {
    struct misfit_lane *lanes;
    uint32_t lane_count;
    uint32_t *slots;     // result, by index of the call: calls of one slot belong together
    uint32_t slot_count; // result
};

// Gives every call a slot, at most one of a lane the same, numbered from 0 in order of time. Each
// lane in turn is laid along what is known of the lanes before it, the longest one first: a longest
// common subsequence, from either end, tells by how much its clock differs, and then the ends,
// which calls that belong together have in common, decide between equal calls. Sorts the calls of
// the lanes by end. Linear but for sorting and for EDIT_PATH_MAX edits.
MUST_CHECK bool run_misfit_match(struct misfit *misfit, struct budget *budget, struct err *err);

#endif
