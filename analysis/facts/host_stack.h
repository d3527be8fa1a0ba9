// SPDX-License-Identifier: Apache-2.0
// Which event of a row encloses a moment: a cursor over one host or Python row that moves forward
// in time and tracks open events.
#ifndef ANALYSIS_HOST_STACK_H
#define ANALYSIS_HOST_STACK_H

#include "ingest/trace/trace.h"

// Sets of kinds: the events that open a level.
#define HOST_STACK_OPS    (1u << EVENT_CPU_OP)
#define HOST_STACK_CALLS  (1u << EVENT_RUNTIME | 1u << EVENT_DRIVER)
#define HOST_STACK_NOTES  (1u << EVENT_ANNOTATION)
#define HOST_STACK_FRAMES (1u << EVENT_PYTHON)

struct host_frame;

struct host_stack {
    const struct trace *trace;
    struct budget *budget;
    struct host_frame *frames;
    uint32_t count;
    size_t cap;
    uint32_t next, end; // events of the row still to come
    uint32_t kinds;
};

void host_stack_init(struct host_stack *stack, const struct trace *trace, struct budget *budget);
void host_stack_free(struct host_stack *stack);

// Goes to the start of a row. kinds is a set of the above.
void host_stack_start(struct host_stack *stack, const struct track *track, uint32_t kinds);

// The innermost event of the kinds that started at begin_ns or before, has not ended by then and
// lasts at least to end_ns; FACTS_NONE if there is none. Calls after host_stack_start must ascend
// by begin_ns. Linear in the row, plus logarithmic in its depth per call.
MUST_CHECK bool host_stack_find(struct host_stack *stack, int64_t begin_ns, int64_t end_ns,
                                uint32_t *event, struct err *err);

// Moves to the next event of the row, of any kind: *parent is the innermost event of the kinds
// around it. *event is FACTS_NONE at the end of the row. Must not be mixed with host_stack_find.
MUST_CHECK bool host_stack_next(struct host_stack *stack, uint32_t *event, uint32_t *parent,
                                struct err *err);

#endif
