// SPDX-License-Identifier: Apache-2.0
// Which device events are credible: when a clock jumps, some end up far from all others.
#ifndef INGEST_TRACE_PLAUSIBLE_H
#define INGEST_TRACE_PLAUSIBLE_H

#include "ingest/trace/trace.h"

// Device events that last longer are implausible; so are those that start further from the median
// start, unless the host was at work within this of them.
#define PLAUSIBLE_REACH_NS INT64_C(3600000000000)
// No recording is longer: what starts further from the median is implausible whatever the host did.
#define PLAUSIBLE_SPAN_NS (24 * PLAUSIBLE_REACH_NS)

// How one trace is judged. Its host's work is looked up once for a range of times, so events are
// best judged in order.
struct plausible {
    const struct trace *trace;
    int64_t median_ns;        // start of the median device event; times of 0 are not counted
    int64_t from_ns, upto_ns; // for these starts the host was found to be at work, or not
    bool host;
};

struct plausible plausible_of(const struct trace *trace);
bool plausible_event(struct plausible *plausible, uint32_t event);

// The start of the first plausible device event, or otherwise_ns if there is none. Tables of the
// analysis count time from here.
int64_t plausible_device_begin(const struct trace *trace, int64_t otherwise_ns);

#endif
