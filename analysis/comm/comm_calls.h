// SPDX-License-Identifier: Apache-2.0
// The communication device events with what is known about each: its own metadata, that of the
// record_param_comms operator it was launched in, or that of the sends and receives that its thread
// recorded before, which batches launch together after their scopes have ended.
#ifndef ANALYSIS_COMM_CALLS_H
#define ANALYSIS_COMM_CALLS_H

#include "analysis/names/bandwidth.h"
#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"

// What is transferred, computed once per tuple of metadata, or from the operator's inputs.
struct comm_size {
    int64_t bytes;             // message size (bandwidth.h), -1 if unknown
    enum collective_kind kind; // KIND_UNKNOWN if the name does not show it
};

struct comm_call {
    uint32_t device;      // index into facts.devices
    uint32_t collective;  // index into the trace's collectives, ARGS_NONE without metadata
    uint32_t part;        // of a batch: its sends and receives are parts[part] and on, the first of
    uint32_t part_count;  // which is also its collective; 0: no batch
    struct comm_size own; // without metadata
};

struct comm_calls {
    struct comm_call *calls; // in order of begin
    uint32_t count;
    const uint32_t *parts;   // collectives of the trace
    struct comm_size *sizes; // per collective of the trace
};

// Arrays live in arena. Linear.
MUST_CHECK bool comm_calls_make(const struct facts *facts, struct arena *arena,
                                struct comm_calls *calls, struct err *err);

// The call for the device event, count if there is none.
uint32_t comm_calls_of(const struct comm_calls *calls, uint32_t device);

// The process group of a call: the same for calls with the same name and size. Calls without
// metadata share one, distinct from all names and sizes.
struct group_key comm_calls_group(const struct facts *facts, const struct comm_call *call);

// Bytes of a call, -1 if unknown; for a batch the larger of what it sends and what it receives.
int64_t comm_calls_bytes(const struct comm_calls *calls, uint32_t call);

// The kind of a call by its metadata, KIND_UNKNOWN if that does not show it; KIND_SEND_RECV for a
// batch that both sends and receives.
enum collective_kind comm_calls_kind(const struct comm_calls *calls, uint32_t call);

// Calls by group: `order` lists the calls of group g from first[g] on, by begin within each group.
struct comm_order {
    uint32_t *first, *order;
};
MUST_CHECK bool comm_calls_order(const struct comm_calls *calls, const uint32_t *group_of,
                                 uint32_t group_count, struct arena *arena,
                                 struct comm_order *order, struct err *err);

// Add the tables of these names; there must be at least one call.
MUST_CHECK bool process_groups_add(const struct facts *facts, const struct comm_calls *calls,
                                   struct report *report, struct err *err);
MUST_CHECK bool comm_sizes_add(const struct facts *facts, const struct comm_calls *calls,
                               struct report *report, struct err *err);

#endif
