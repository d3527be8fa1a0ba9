// SPDX-License-Identifier: Apache-2.0
// The recorded allocations of a trace by device, in time order, with the total after each.
#ifndef ANALYSIS_MEMORY_CURVE_H
#define ANALYSIS_MEMORY_CURVE_H

#include "analysis/facts/facts.h"

#define MEMORY_MAX_DEVICES 64 // a file with more is not to be trusted with more tables

// Allocations on one device. Point k is the state from event k on, up to the next one.
struct memory_curve {
    int32_t device_type, device; // as recorded; device_type 0 is the host
    uint32_t *events;            // indices into the trace's columns, by time, then file order
    int64_t *allocated;          // bytes after each
    uint32_t count;              // at least 1
    int64_t begin_bytes;         // allocated before the first
    uint32_t worked_out;         // points whose total was not recorded but follows from their bytes
    bool lower_bound; // no total is recorded: the level before the recording is unknown, and the
                      // lowest one that explains the releases is used
    bool overflow;    // the bytes overflow: no figure is valid
};

struct memory_curves {
    struct memory_curve curves[MEMORY_MAX_DEVICES]; // devices by type and index, the host last
    uint32_t count;
    uint32_t left_out; // events of further devices
};

// Arrays live in arena. No curves if the trace has no allocations.
MUST_CHECK bool memory_curves_make(const struct facts *facts, struct arena *arena,
                                   struct memory_curves *curves, struct err *err);

// "cpu", "cuda:0", "hip:1": PyTorch's name. Buffer of at least 32 bytes.
struct str memory_curve_device(const struct memory_curve *curve, char text[32]);

// Bytes allocated (> 0) or released (< 0) by an event; 0 if not given.
int64_t memory_curve_bytes(const struct trace *trace, const struct memory_curve *curve,
                           uint32_t point);

// Reserved bytes after it; VALUE_ABSENT if not recorded, and on the host, which reserves nothing.
int64_t memory_curve_reserved(const struct trace *trace, const struct memory_curve *curve,
                              uint32_t point);

static inline int64_t memory_curve_time(const struct trace *trace, const struct memory_curve *curve,
                                        uint32_t point)
{
    return trace->begin_ns[curve->events[point]];
}

// The first moment of the peak.
struct memory_peak {
    int64_t allocated;
    uint32_t point; // FACTS_NONE: before the first event
};

struct memory_peak memory_curve_peak(const struct memory_curve *curve);

#endif
