// SPDX-License-Identifier: Apache-2.0
// Collects communication and lends operators' metadata to kernels that have none.
#include "analysis/comm_calls.h"

#include "analysis/host_stack.h"

static uint32_t own_collective(const struct facts *facts, uint32_t device)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    return args == ARGS_NONE ? ARGS_NONE : facts->trace->device_args[args].collective;
}

// --- metadata of operators ----------------------------------------------------------------------

static uint32_t op_collective(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->args[event];
    bool has = trace->kind[event] == EVENT_CPU_OP && args != ARGS_NONE;
    return has ? trace->op_args[args].collective : ARGS_NONE;
}

static bool anything_to_lend(const struct facts *facts)
{
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    bool recorded = false, lacking = false;
    for (uint32_t i = 0; i < facts->trace->op_args_count && !recorded; i++)
        recorded = facts->trace->op_args[i].collective != ARGS_NONE;
    for (uint32_t i = first[0]; recorded && i < first[1] && !lacking; i++) {
        uint32_t device = facts->class_devices[i];
        lacking = facts->devices[device].launch != FACTS_NONE &&
                  own_collective(facts, device) == ARGS_NONE;
    }
    return lacking;
}

// Walks one row. nearest[i] becomes the collective of the innermost operator with one at or around
// its i-th event; launches of the row (from *next on) get that of the operator around them.
static bool lend_row(const struct facts *facts, const struct track *track, uint32_t *nearest,
                     uint32_t *next, uint32_t *lent, struct err *err)
{
    struct host_stack stack;
    host_stack_init(&stack, facts->trace, facts->budget);
    host_stack_start(&stack, track, HOST_STACK_OPS);
    uint32_t event, around;
    bool ok;
    while ((ok = host_stack_next(&stack, &event, &around, err)) && event != FACTS_NONE) {
        uint32_t outer = around == FACTS_NONE ? ARGS_NONE : nearest[around - track->first];
        uint32_t own = op_collective(facts->trace, event);
        nearest[event - track->first] = own == ARGS_NONE ? outer : own;
        if (*next < facts->launch_count && facts->launches[*next].event == event)
            lent[(*next)++] = outer;
    }
    host_stack_free(&stack);
    return ok;
}

// Per launch the collective of the innermost record_param_comms around it, or ARGS_NONE.
static bool lend(const struct facts *facts, uint32_t *lent, struct err *err)
{
    const struct trace *trace = facts->trace;
    uint32_t longest = 0, next = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && trace->tracks[t].count > longest)
            longest = trace->tracks[t].count;
    size_t size = longest * sizeof(uint32_t);
    uint32_t *nearest = budget_alloc(facts->budget, size, err);
    bool ok = nearest != NULL;
    for (uint32_t t = 0; ok && t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST)
            ok = lend_row(facts, &trace->tracks[t], nearest, &next, lent, err);
    budget_free(facts->budget, nearest, size);
    return ok;
}

// --- calls --------------------------------------------------------------------------------------

static bool measure(const struct trace *trace, struct arena *arena, struct comm_calls *calls,
                    struct err *err)
{
    calls->sizes = arena_array(arena, trace->collective_count, sizeof *calls->sizes, err);
    for (uint32_t i = 0; calls->sizes && i < trace->collective_count; i++) {
        const struct collective *c = &trace->collectives[i];
        calls->sizes[i].kind = bandwidth_kind(trace_text(trace, c->name));
        calls->sizes[i].bytes = bandwidth_bytes(
            calls->sizes[i].kind, c, bandwidth_element_bytes(trace_text(trace, c->dtype)));
    }
    return calls->sizes != NULL;
}

static bool collect(const struct facts *facts, const uint32_t *lent, struct arena *arena,
                    struct comm_calls *calls, struct err *err)
{
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    calls->count = first[1] - first[0];
    calls->calls = arena_room(arena, calls->count, sizeof *calls->calls, err);
    for (uint32_t n = 0; calls->calls && n < calls->count; n++) {
        uint32_t device = facts->class_devices[first[0] + n];
        struct comm_call *call = &calls->calls[n];
        *call = (struct comm_call){device, own_collective(facts, device)};
        uint32_t launch = facts->devices[device].launch;
        if (call->collective == ARGS_NONE && lent && launch != FACTS_NONE)
            call->collective = lent[launch];
    }
    return calls->calls != NULL;
}

bool comm_calls_make(const struct facts *facts, struct arena *arena, struct comm_calls *calls,
                     struct err *err)
{
    *calls = (struct comm_calls){0};
    uint32_t *lent = NULL;
    if (anything_to_lend(facts)) {
        lent = arena_array(arena, facts->launch_count, sizeof *lent, err);
        if (!lent || !lend(facts, lent, err))
            return false;
    }
    return measure(facts->trace, arena, calls, err) && collect(facts, lent, arena, calls, err);
}

struct group_key comm_calls_group(const struct facts *facts, const struct comm_call *call)
{
    if (call->collective == ARGS_NONE)
        return (struct group_key){UINT64_MAX, 0};
    const struct collective *c = &facts->trace->collectives[call->collective];
    return (struct group_key){c->group, (uint64_t)c->group_size};
}

int64_t comm_calls_bytes(const struct comm_calls *calls, uint32_t call)
{
    uint32_t collective = calls->calls[call].collective;
    return collective == ARGS_NONE ? -1 : calls->sizes[collective].bytes;
}

bool comm_calls_order(const struct comm_calls *calls, const uint32_t *group_of,
                      uint32_t group_count, struct arena *arena, struct comm_order *order,
                      struct err *err)
{
    order->first = arena_array(arena, (size_t)group_count + 2, sizeof *order->first, err);
    order->order = arena_room(arena, calls->count, sizeof *order->order, err);
    if (!order->first || !order->order)
        return false;
    uint32_t *at = order->first + 1; // moves on to the begin of the next group while filling
    for (uint32_t i = 0; i < calls->count; i++)
        at[group_of[i] + 1]++;
    for (uint32_t g = 0; g < group_count; g++)
        at[g + 1] += at[g];
    for (uint32_t i = 0; i < calls->count; i++)
        order->order[at[group_of[i]]++] = i;
    return true;
}
