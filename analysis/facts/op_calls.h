// SPDX-License-Identifier: Apache-2.0
// The operator calls that launched something, and the calls around them.
#ifndef ANALYSIS_OP_CALLS_H
#define ANALYSIS_OP_CALLS_H

#include "analysis/facts/facts.h"
#include "analysis/stats/sort.h"

struct span;

// A call that launched device events itself: launches order[from] .. order[to - 1].
struct op_call {
    uint32_t op; // index into the trace's columns
    uint32_t from, to;
    int64_t self_ns; // union of its device events
};

struct op_calls {
    uint32_t *order; // launches with an operator, by operator: those of a call's subtree are
                     // contiguous
    uint32_t order_count;
    struct op_call *calls; // ascending by op
    uint32_t count;
};

// Fills facts.calls. O(n log n)
MUST_CHECK bool op_calls_make(struct facts *facts, struct err *err);

// Room for uniting the device events of calls.
struct op_union {
    const struct facts *facts;
    struct keyed *devices;
    struct span *spans;
};

MUST_CHECK bool op_union_init(struct op_union *room, const struct facts *facts, struct arena *arena,
                              struct err *err);

// Time of the union of the device events of launches order[from] .. order[to - 1].
int64_t op_union_time(const struct op_union *room, const uint32_t *order, uint32_t from,
                      uint32_t to);

// A name that many rows may repeat: whole characters of at most 1,024 bytes. The tables of kernels
// and operators have it in full.
struct str op_calls_name(const struct facts *facts, str_id name);

// A call around others, while its subtree is walked.
struct op_frame {
    uint32_t op;
    uint32_t from;        // first of its launches, in order, including those of its subtree
    uint32_t mark, flags; // for the visitor
};

// Index into the trace's op_inputs of an operator call, ARGS_NONE if it recorded none.
static inline uint32_t op_calls_inputs(const struct trace *trace, uint32_t op)
{
    uint32_t args = trace->args[op];
    return args == ARGS_NONE ? ARGS_NONE : trace->op_args[args].inputs;
}

// Visits all calls whose subtree launched something, parents first.
struct op_visitor {
    void *context;
    // frame->op starts inside above (NULL at the top).
    bool (*enter)(void *context, struct op_frame *frame, const struct op_frame *above,
                  struct err *err);
    // The launches of the call just entered.
    bool (*launched)(void *context, struct op_frame *frame, const struct op_call *call,
                     struct err *err);
    // frame->op ends: the launches of its subtree end before `to`.
    void (*leave)(void *context, const struct op_frame *frame, struct op_frame *above, uint32_t to);
};

// Linear; each call is entered once.
MUST_CHECK bool op_calls_walk(const struct facts *facts, const struct op_visitor *visitor,
                              struct err *err);

#endif
