// SPDX-License-Identifier: Apache-2.0
// Exclusive ownership of time: each instant of the window belongs to one device event or is idle.
#ifndef ANALYSIS_SWEEP_H
#define ANALYSIS_SWEEP_H

#include "analysis/facts/facts.h"

// A stretch of time with one owner. If several device events run at once, the first bar wins
// (compute before communication before memory; within compute matrix multiplication, attention,
// other); within a bar the event that started first, then file order. It never crosses a step's
// bounds.
struct segment {
    int64_t begin_ns, end_ns;
    uint32_t step; // index into facts.steps, or FACTS_NONE
    enum bar bar;
    uint32_t device;       // its owner; for idle time the device event that ends it, or FACTS_NONE
    enum idle_cause cause; // of idle time
    bool communicates, copies; // whether the classes run during it, hidden or not
    bool waits_only;           // what communicates is the wait for a transfer
};

// Adds the segment's time to parts.
void sweep_add(struct parts *parts, const struct segment *segment);

typedef void segment_visitor(void *context, const struct segment *segment);

// Calls visit for every stretch of the window in time order, without gaps. gpu is an index into
// facts.gpus: then only its events count, without steps; SWEEP_ALL means all devices merged.
// Linear.
#define SWEEP_ALL FACTS_NONE
void sweep_run(const struct facts *facts, uint32_t gpu, segment_visitor *visit, void *context);

#endif
