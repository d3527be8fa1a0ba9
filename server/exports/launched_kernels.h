// SPDX-License-Identifier: Apache-2.0
// Which kernels of a rank each call launched, by correlation: how many are in flight.
#ifndef SERVER_LAUNCHED_KERNELS_H
#define SERVER_LAUNCHED_KERNELS_H

#include "ingest/trace/trace_events.h"

#define LAUNCHED_KERNELS_MOST ((size_t)3 << 20) // of a rank; with more, none are known

struct launched_kernels {
    int64_t *correlations; // of its kernels, ascending
    uint8_t *begun;        // a bit each: its call has been seen
    size_t count, room;
};

// Reads those of all streams. Pair with launched_kernels_free, also after a failure.
MUST_CHECK bool launched_kernels_read(struct launched_kernels *kernels, struct trace_events *events,
                                      struct trace_blocks *device_args, struct trace_window window,
                                      struct err *err);
void launched_kernels_free(struct launched_kernels *kernels);

// A call begins: how many kernels it launches that no other call has.
uint32_t launched_kernels_begin(struct launched_kernels *kernels, int64_t correlation);

// Whether a kernel's call has begun.
bool launched_kernels_has(const struct launched_kernels *kernels, int64_t correlation);

#endif
