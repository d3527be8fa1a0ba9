// SPDX-License-Identifier: Apache-2.0
// How long a call usually takes at its place: calls of one kernel on one shape may differ for a
// reason that recurs at the same place of every step, replay, module or period of layers.
#ifndef ANALYSIS_CALL_PLACES_H
#define ANALYSIS_CALL_PLACES_H

#include "analysis/findings/findings.h"
#include "analysis/facts/grouping.h"

#define CALL_EXCESS_NS 5000 // smaller differences are within the recording's precision

// By how much a call exceeds the usual, 0 unless that is a lot.
static inline int64_t call_excess(int64_t call_ns, int64_t usual_ns)
{
    bool slow = (double)call_ns >= FINDING_SLOW_CALL_RATIO * (double)usual_ns &&
                call_ns - usual_ns >= CALL_EXCESS_NS;
    return slow ? call_ns - usual_ns : 0;
}

// *usual_ns: per device event the median of the calls of its kind at its place, in arena; INT64_MAX
// for kinds with too few calls. For each kind, uses the numbering of places that explains most:
// places in the step, in the replay or the operator's call, modules, or periodic calls; places with
// too few calls, or if none explains anything, count as one. kinds is sorted (grouping_sort). O(n
// log n)
MUST_CHECK bool call_places_make(const struct facts *facts, const struct grouping *kinds,
                                 struct arena *arena, int64_t **usual_ns, struct err *err);

#endif
