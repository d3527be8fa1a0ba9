// SPDX-License-Identifier: Apache-2.0
// Which calls of ranks belong together if not all ranks have recorded the same calls.
#ifndef ANALYSIS_RUN_MISFIT_H
#define ANALYSIS_RUN_MISFIT_H

#include "ingest/base/arena.h"

// One call of one rank; small, because a group of all ranks has millions.
struct misfit_call {
    uint32_t symbol;  // hash of its kind and size
    uint32_t stepped; // hash of the same plus its step
    int64_t end_ns;   // by the rank's own clock
    uint32_t dur_ns;  // UINT32_MAX: at least that
    uint32_t index;   // the caller's
};

// The calls of one rank.
struct misfit_lane {
    struct misfit_call *calls;
    uint32_t count;
    bool sure; // result: a single shift shows which of the others' calls they belong to
    bool open; // result: several do, and the one nearest by the clocks was not taken
};

struct misfit {
    struct misfit_lane *lanes;
    uint32_t lane_count;
    uint32_t *slots;     // result, by index of the call: calls in one slot belong together
    uint32_t slot_count; // result
    bool aligned;        // ends are on one clock
};

// Assigns every call a slot, at most one call of a lane per slot, numbered from 0 in time order.
// Each lane in turn, the longest first, is aligned with what is known from earlier lanes: the shift
// at which ends agree (run_shift), or else a longest common subsequence, from either end, shows by
// how much its clock differs; then the ends, which calls that belong together have in common,
// decide between equal calls. Sorts the calls of the lanes by end. Linear except for sorting and
// for EDIT_PATH_MAX edits.
MUST_CHECK bool run_misfit_match(struct misfit *misfit, struct budget *budget, struct err *err);

#endif
