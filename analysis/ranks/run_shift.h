// SPDX-License-Identifier: Apache-2.0
// By how many calls one rank's recording began after another's, as their ends show.
#ifndef ANALYSIS_RUN_SHIFT_H
#define ANALYSIS_RUN_SHIFT_H

#include "analysis/ranks/run_misfit.h"

// Ends that agree on a clock are within this.
#define RUN_SHIFT_NEAR_NS 50000

// The shifts at which all calls that meet are alike and at which their ends agree best.
struct run_shift {
    bool known;        // there is one, and its ends agree
    bool clear;        // at no other shift do they agree nearly as well
    bool in_place;     // one is 0: the k-th call is the k-th
    int64_t offset_ns; // to be added to the lane's clock at the one where clocks differ least
    int64_t spread_ns; // within which three in four ends agree at the best
};

// Whether the k-th calls of both are alike, and by the clocks no other shift is nearer.
bool run_shift_is_nearest(struct misfit_lane known, struct misfit_lane lane);

// Both are ordered by end, at least about. Linear; tries SHIFT_REACH shifts either way of where the
// clocks agree, at which half of the shorter one meets calls of the other.
MUST_CHECK bool run_shift_find(struct misfit_lane known, struct misfit_lane lane,
                               struct arena *scratch, struct run_shift *found, struct err *err);

#endif
