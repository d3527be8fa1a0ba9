// SPDX-License-Identifier: Apache-2.0
// All calls of one kernel or operator in a trace file: how long they took, in which steps, and the
// longest. By the rules of the table kernels, so that the sums are the same.
#ifndef SERVER_NAME_CALLS_H
#define SERVER_NAME_CALLS_H

#include "ingest/trace/trace_events.h"

#define NAME_CALLS_LONGEST 20u
#define NAME_CALLS_BINS    40u
#define NAME_CALLS_MOST    ((size_t)4 << 20)

enum call_kind {
    CALLS_OF_KERNEL,  // kernels, copies and memsets
    CALLS_OF_OPERATOR // on the host
};

// Durations; ascending once all are read.
struct call_times {
    int64_t *ns;
    size_t count, room;
    int64_t total_ns;
};

// A step, in times of the file, and the calls that start in it.
struct call_step {
    int64_t begin_ns, end_ns;
    int64_t calls, total_ns, max_ns;
};

struct name_calls {
    struct call_times calls;  // on the device, of operators on the host
    struct call_times device; // of operators: what each outermost call launched, nested ones too
    struct {
        int64_t begin_ns, dur_ns;
    } longest[NAME_CALLS_LONGEST]; // first, of as long ones the earliest
    unsigned longest_count;
    struct call_step *steps; // ascending; given by the caller
    size_t step_count;
};

// Reads all calls. The steps stay the caller's; pair with name_calls_free, also after a failure.
// No calls if the name does not occur. ERR_LIMIT beyond NAME_CALLS_MOST, ERR_FORMAT.
MUST_CHECK bool name_calls_read(const struct trace_file *file, enum call_kind kind, struct str name,
                                struct name_calls *calls, struct err *err);
void name_calls_free(struct name_calls *calls);

// A histogram: bin i has the durations from edges[i] to before edges[i + 1]. Bins are equally wide,
// or equally wide on a logarithmic scale if the longest is many times the shortest.
struct call_bins {
    int64_t edges[NAME_CALLS_BINS + 1];
    int64_t counts[NAME_CALLS_BINS];
    unsigned count;
};

struct call_bins call_bins_of(const struct call_times *times);

#endif
