// SPDX-License-Identifier: Apache-2.0
// Walks each host row with a stack of open operators. Rows of hostile files do not nest, so the
// stack is searched by links that skip, in logarithmic time.
#include "analysis/op_stack.h"

#define NONE      UINT32_MAX
#define FIRST_CAP 64

// An open operator. `longer` is the next one below that ends no earlier; `jump` skips along those
// links (a skew-binary list), so that the first one that ends late enough is found quickly.
struct frame {
    int64_t end_ns;
    uint32_t event;
    uint32_t longer, jump, depth;
};

struct op_stack {
    const struct trace *trace;
    struct budget *budget;
    struct frame *frames;
    uint32_t count, cap;
};

static bool reserve(struct op_stack *stack, struct err *err)
{
    if (stack->count < stack->cap)
        return true;
    uint32_t cap = stack->cap ? stack->cap * 2 : FIRST_CAP;
    struct frame *frames = budget_realloc(stack->budget, stack->frames, stack->cap * sizeof *frames,
                                          (size_t)cap * sizeof *frames, err);
    if (!frames)
        return false;
    stack->frames = frames;
    stack->cap = cap;
    return true;
}

// The topmost frame that ends at end_ns or later, or NONE.
static uint32_t find(const struct op_stack *stack, int64_t end_ns)
{
    const struct frame *frames = stack->frames;
    uint32_t at = stack->count ? stack->count - 1 : NONE;
    while (at != NONE && frames[at].end_ns < end_ns) {
        uint32_t jump = frames[at].jump;
        at = jump != NONE && frames[jump].end_ns < end_ns ? jump : frames[at].longer;
    }
    return at;
}

static uint32_t jump_of(const struct op_stack *stack, uint32_t longer)
{
    if (longer == NONE)
        return NONE;
    const struct frame *frames = stack->frames;
    uint32_t near = frames[longer].jump;
    uint32_t far = near == NONE ? NONE : frames[near].jump;
    bool even = far != NONE &&
                frames[longer].depth - frames[near].depth == frames[near].depth - frames[far].depth;
    return even ? far : longer;
}

static void pop_ended(struct op_stack *stack, int64_t now_ns)
{
    while (stack->count && stack->frames[stack->count - 1].end_ns <= now_ns)
        stack->count--;
}

static bool push(struct op_stack *stack, uint32_t event, int64_t end_ns, struct err *err)
{
    if (!reserve(stack, err))
        return false;
    uint32_t longer = find(stack, end_ns);
    stack->frames[stack->count++] = (struct frame){
        .end_ns = end_ns,
        .event = event,
        .longer = longer,
        .jump = jump_of(stack, longer),
        .depth = longer == NONE ? 0 : stack->frames[longer].depth + 1,
    };
    return true;
}

// One row: launches[0 .. count - 1] lie on it, in order of begin.
static bool walk(struct op_stack *stack, const struct track *track, struct launch *launches,
                 uint32_t count, struct err *err)
{
    const struct trace *trace = stack->trace;
    stack->count = 0;
    uint32_t event = track->first, end = track->first + track->count;
    for (uint32_t l = 0; l < count; l++) {
        int64_t begin_ns = trace->begin_ns[launches[l].event];
        for (; event < end && trace->begin_ns[event] <= begin_ns; event++) {
            if (trace->kind[event] != EVENT_CPU_OP)
                continue;
            pop_ended(stack, trace->begin_ns[event]);
            if (!push(stack, event, facts_event_end(trace, event), err))
                return false;
        }
        pop_ended(stack, begin_ns);
        uint32_t found = find(stack, facts_event_end(trace, launches[l].event));
        if (found != NONE)
            launches[l].op = stack->frames[found].event;
    }
    return true;
}

bool op_stack_assign(struct facts *facts, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct op_stack stack = {.trace = trace, .budget = facts->budget};
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
    budget_free(facts->budget, stack.frames, stack.cap * sizeof *stack.frames);
    return ok;
}
