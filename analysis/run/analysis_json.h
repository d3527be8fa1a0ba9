// SPDX-License-Identifier: Apache-2.0
// The JSON object of one trace, as printed by the command line.
#ifndef ANALYSIS_ANALYSIS_JSON_H
#define ANALYSIS_ANALYSIS_JSON_H

#include "analysis/report/report.h"

// Writes the report of one trace (analyze_trace) as one object. Keys: trace_events, device_events,
// linked_device_events, streams, quarantined (kinds that occurred), rank, world_size, breakdown
// over all devices of the file together (null without device events), breakdown_split (its compute
// and idle by bar), classes, kernels, ops,
// collectives as recorded, and tables with every table of the report.
MUST_CHECK bool analysis_json_trace(const struct report *report, struct buf *out, struct err *err);

#endif
