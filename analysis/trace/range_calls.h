// SPDX-License-Identifier: Apache-2.0
// The calls of collectives inside ranges.
#ifndef ANALYSIS_RANGE_CALLS_H
#define ANALYSIS_RANGE_CALLS_H

#include "analysis/report/report.h"
#include "analysis/trace/range_tree.h"

struct range_calls {
    const struct table *ops, *calls; // comm_ops and comm_calls of the trace; NULL: none
    const uint32_t *sets;            // per call: bits of the ranges that it is in
};

// node_sets: per node of the tree; report: with the trace's calls. Memory is the tree's.
MUST_CHECK bool range_calls_make(const struct range_tree *tree, const uint32_t *node_sets,
                                 const struct report *report, struct range_calls *calls,
                                 struct err *err);

// Adds comm_ops and comm_calls of one range: its first `most` calls, and the operations that all of
// its calls are of, in order of their first call there.
MUST_CHECK bool range_calls_add(const struct range_calls *calls, unsigned range, size_t most,
                                struct report *report, struct err *err);

#endif
