// SPDX-License-Identifier: Apache-2.0
// The communicating device events with what is known of each: its own metadata, that of the
// record_param_comms operator in which it was launched, or those of the sends and receives that
// its thread had recorded before, which batches launch together after their scopes have ended.
#ifndef ANALYSIS_COMM_CALLS_H
#define ANALYSIS_COMM_CALLS_H

#include "analysis/names/bandwidth.h"
#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"

// What is moved, worked out once per tuple of metadata, or from the operator's inputs.
struct comm_size {
    int64_t bytes;             // message size (bandwidth.h), -1 when not known
    enum collective_kind kind; // KIND_UNKNOWN when the name says nothing
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

// The call that is the device event, count when none is.
uint32_t comm_calls_of(const struct comm_calls *calls, uint32_t device);

// The process group of a call: the same for calls of one name and size. Calls without metadata
// share one, which no name and size has.
struct group_key comm_calls_group(const struct facts *facts, const struct comm_call *call);

// Bytes of a call, -1 when not known; of a batch what it sends or what it receives, whichever is
// more.
int64_t comm_calls_bytes(const struct comm_calls *calls, uint32_t call);

// What its metadata says it is, KIND_UNKNOWN when that says nothing; of a batch that both sends and
// receives KIND_SEND_RECV.
enum collective_kind comm_calls_kind(const struct comm_calls *calls, uint32_t call);

// Calls by group: `order` lists the calls of group g from first[g] on, each group's in order of
// begin.
struct comm_order {
    uint32_t *first, *order;
};
MUST_CHECK bool comm_calls_order(const struct comm_calls *calls, const uint32_t *group_of,
                                 uint32_t group_count, struct arena *arena,
                                 struct comm_order *order, struct err *err);

// Add the tables of these names; there is one call at least.
MUST_CHECK bool process_groups_add(const struct facts *facts, const struct comm_calls *calls,
                                   struct report *report, struct err *err);
MUST_CHECK bool comm_sizes_add(const struct facts *facts, const struct comm_calls *calls,
                               struct report *report, struct err *err);

#endif
