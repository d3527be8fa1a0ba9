// SPDX-License-Identifier: Apache-2.0
// A stack of a row's open events. Rows of hostile files do not nest, so the stack is searched
// through skip links, in logarithmic time.
#include "analysis/facts/host_stack.h"

#include "analysis/facts/facts.h"

#define NONE UINT32_MAX

// An open event. `longer` is the next one below that ends no earlier; `jump` skips along those
// links (a skew-binary list), so that the first one that ends late enough is found quickly.
struct host_frame {
    int64_t end_ns;
    uint32_t event;
    uint32_t longer, jump, depth;
};

static bool reserve(struct host_stack *stack, struct err *err)
{
    struct host_frame *frames = budget_room(stack->budget, stack->frames, &stack->cap,
                                            stack->count + (size_t)1, sizeof *frames, err);
    stack->frames = frames ? frames : stack->frames;
    return frames != NULL;
}

// The topmost frame that ends at end_ns or later, or NONE.
static uint32_t find(const struct host_stack *stack, int64_t end_ns)
{
    const struct host_frame *frames = stack->frames;
    uint32_t at = stack->count ? stack->count - 1 : NONE;
    while (at != NONE && frames[at].end_ns < end_ns) {
        uint32_t jump = frames[at].jump;
        at = jump != NONE && frames[jump].end_ns < end_ns ? jump : frames[at].longer;
    }
    return at;
}

static uint32_t jump_of(const struct host_stack *stack, uint32_t longer)
{
    if (longer == NONE)
        return NONE;
    const struct host_frame *frames = stack->frames;
    uint32_t near = frames[longer].jump;
    uint32_t far = near == NONE ? NONE : frames[near].jump;
    bool even = far != NONE &&
                frames[longer].depth - frames[near].depth == frames[near].depth - frames[far].depth;
    return even ? far : longer;
}

static void pop_ended(struct host_stack *stack, int64_t now_ns)
{
    while (stack->count && stack->frames[stack->count - 1].end_ns <= now_ns)
        stack->count--;
}

static bool push(struct host_stack *stack, uint32_t event, int64_t end_ns, struct err *err)
{
    if (!reserve(stack, err))
        return false;
    uint32_t longer = find(stack, end_ns);
    stack->frames[stack->count++] = (struct host_frame){
        .end_ns = end_ns,
        .event = event,
        .longer = longer,
        .jump = jump_of(stack, longer),
        .depth = longer == NONE ? 0 : stack->frames[longer].depth + 1,
    };
    return true;
}

void host_stack_init(struct host_stack *stack, const struct trace *trace, struct budget *budget)
{
    *stack = (struct host_stack){.trace = trace, .budget = budget};
}

void host_stack_free(struct host_stack *stack)
{
    budget_free(stack->budget, stack->frames, stack->cap * sizeof *stack->frames);
    stack->frames = NULL;
    stack->count = 0;
    stack->cap = 0;
}

void host_stack_start(struct host_stack *stack, const struct track *track, uint32_t kinds)
{
    stack->next = track->first;
    stack->end = track->first + track->count;
    stack->kinds = kinds;
    stack->count = 0;
}

static bool opens(const struct host_stack *stack, uint32_t event)
{
    return stack->kinds >> stack->trace->kind[event] & 1;
}

bool host_stack_find(struct host_stack *stack, int64_t begin_ns, int64_t end_ns, uint32_t *event,
                     struct err *err)
{
    const struct trace *trace = stack->trace;
    for (; stack->next < stack->end && trace->begin_ns[stack->next] <= begin_ns; stack->next++) {
        if (!opens(stack, stack->next))
            continue;
        int64_t until_ns = facts_event_end(trace, stack->next);
        if (until_ns <= begin_ns) // most end before anyone asks
            continue;
        pop_ended(stack, trace->begin_ns[stack->next]);
        if (!push(stack, stack->next, until_ns, err))
            return false;
    }
    pop_ended(stack, begin_ns);
    uint32_t found = find(stack, end_ns);
    *event = found == NONE ? FACTS_NONE : stack->frames[found].event;
    return true;
}

bool host_stack_next(struct host_stack *stack, uint32_t *event, uint32_t *parent, struct err *err)
{
    const struct trace *trace = stack->trace;
    if (stack->next == stack->end) {
        *event = FACTS_NONE;
        return true;
    }
    *event = stack->next++;
    int64_t end_ns = facts_event_end(trace, *event);
    pop_ended(stack, trace->begin_ns[*event]);
    uint32_t found = find(stack, end_ns);
    *parent = found == NONE ? FACTS_NONE : stack->frames[found].event;
    return !opens(stack, *event) || push(stack, *event, end_ns, err);
}
