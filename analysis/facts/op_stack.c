// SPDX-License-Identifier: Apache-2.0
// Finds the innermost operator around each launch.
#include "analysis/facts/op_stack.h"

#include "analysis/facts/host_stack.h"

// launches[0 .. count - 1] are on the row, ordered by begin.
static bool walk(struct host_stack *stack, const struct track *track, struct launch *launches,
                 uint32_t count, struct err *err)
{
    const struct trace *trace = stack->trace;
    host_stack_start(stack, track, HOST_STACK_OPS);
    for (uint32_t l = 0; l < count; l++) {
        uint32_t event = launches[l].event;
        if (!host_stack_find(stack, trace->begin_ns[event], facts_event_end(trace, event),
                             &launches[l].op, err))
            return false;
    }
    return true;
}

bool op_stack_assign(struct facts *facts, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct host_stack stack;
    host_stack_init(&stack, trace, facts->budget);
    uint32_t next = 0;
    bool ok = true;
    for (uint32_t t = 0; ok && t < trace->track_count && next < facts->launch_count; t++) {
        const struct track *track = &trace->tracks[t];
        uint32_t first = next;
        while (next < facts->launch_count &&
               facts->launches[next].event - track->first < track->count)
            next++;
        ok = next == first || walk(&stack, track, facts->launches + first, next - first, err);
    }
    host_stack_free(&stack);
    return ok;
}
