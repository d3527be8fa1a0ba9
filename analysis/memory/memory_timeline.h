// SPDX-License-Identifier: Apache-2.0
// A device's memory over time, thinned for a chart.
#ifndef ANALYSIS_MEMORY_TIMELINE_H
#define ANALYSIS_MEMORY_TIMELINE_H

#include "analysis/memory/memory_curve.h"

#define MEMORY_TIMELINE_POINTS 2000

// Adds the rows of one device, at most MEMORY_TIMELINE_POINTS; the first is the level before the
// recording. If there are more events, they are cut into equal pieces, and of each the first, the
// last, and the minimum and maximum allocated and reserved are kept: no extreme is lost, neither of
// the whole nor of a piece. Times are since origin_ns.
MUST_CHECK bool memory_timeline_add(const struct trace *trace, const struct memory_curve *curve,
                                    int64_t origin_ns, struct report *report, struct err *err);

#endif
