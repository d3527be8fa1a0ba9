// SPDX-License-Identifier: Apache-2.0
// Which device events are credible: when a clock jumps, some end up far from all others.
#ifndef INGEST_TRACE_PLAUSIBLE_H
#define INGEST_TRACE_PLAUSIBLE_H

#include "ingest/trace/trace.h"

// Device events that start further from the median start, or last longer, are implausible.
#define PLAUSIBLE_REACH_NS INT64_C(3600000000000)

bool plausible_event(const struct trace *trace, uint32_t event, int64_t median_begin_ns);

// The start of the first plausible device event, or otherwise_ns if there is none. Tables of the
// analysis count time from here.
int64_t plausible_device_begin(const struct trace *trace, int64_t otherwise_ns);

#endif
