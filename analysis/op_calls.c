// SPDX-License-Identifier: Apache-2.0
// Groups launches by the call they stand in, and walks the tree of calls above them.
#include "analysis/op_calls.h"

#include "analysis/host_stack.h"
#include "analysis/intervals.h"
#include "analysis/sort.h"

#define FIRST_CAP 64
#define LONG_NAME 1024 // bytes

static void sort_launches(struct op_calls *calls, struct keyed *items)
{
    const struct facts *facts = calls->facts;
    uint32_t count = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (facts->launches[l].op != FACTS_NONE)
            items[count++] = (struct keyed){facts->launches[l].op, l, 0};
    sort_keyed(items, items + facts->launch_count, count);
    for (uint32_t i = 0; i < count; i++)
        calls->order[i] = items[i].a;
    calls->order_count = count;
}

static uint32_t op_at(const struct op_calls *calls, uint32_t at)
{
    return calls->facts->launches[calls->order[at]].op;
}

static void group(struct op_calls *calls)
{
    for (uint32_t from = 0, to; from < calls->order_count; from = to) {
        to = from + 1;
        while (to < calls->order_count && op_at(calls, to) == op_at(calls, from))
            to++;
        calls->calls[calls->count++] =
            (struct op_call){op_at(calls, from), from, to, op_calls_union(calls, from, to)};
    }
}

bool op_calls_make(const struct facts *facts, struct arena *arena, struct op_calls *calls,
                   struct err *err)
{
    *calls = (struct op_calls){.facts = facts};
    size_t size = 2 * (size_t)facts->launch_count * sizeof(struct keyed);
    calls->order = arena_array(arena, facts->launch_count, sizeof *calls->order, err);
    calls->calls = arena_array(arena, facts->launch_count, sizeof *calls->calls, err);
    calls->devices = arena_array(arena, 2 * (size_t)facts->linked, sizeof *calls->devices, err);
    calls->spans = arena_array(arena, facts->linked, sizeof *calls->spans, err);
    if (!calls->order || !calls->calls || !calls->devices || !calls->spans)
        return false;
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    sort_launches(calls, items);
    budget_free(facts->budget, items, size);
    group(calls);
    return true;
}

int64_t op_calls_union(const struct op_calls *calls, uint32_t from, uint32_t to)
{
    const struct facts *facts = calls->facts;
    uint32_t count = 0;
    for (uint32_t l = from; l < to; l++)
        for (uint32_t d = facts->launches[calls->order[l]].first; d != FACTS_NONE;
             d = facts->devices[d].next)
            calls->devices[count++] = (struct keyed){d, d, 0}; // ascending index is order of begin
    sort_keyed(calls->devices, calls->devices + facts->linked, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct device_event *device = &facts->devices[calls->devices[i].a];
        calls->spans[i] = (struct span){device->begin_ns, device->end_ns};
    }
    return intervals_length(calls->spans, intervals_union(calls->spans, count));
}

struct str op_calls_name(const struct facts *facts, str_id name)
{
    struct str text = trace_text(facts->trace, name);
    if (text.len <= LONG_NAME)
        return text;
    text.len = LONG_NAME;
    text.len = str_valid_utf8(text);
    return text;
}

struct walk {
    const struct op_calls *calls;
    const struct op_visitor *visitor;
    uint32_t *parent; // per event of the host: the operator around an operator
    struct op_frame *frames;
    uint32_t depth, cap;
};

static bool find_parents(struct walk *walk, struct err *err)
{
    const struct trace *trace = walk->calls->facts->trace;
    struct host_stack stack;
    host_stack_init(&stack, trace, walk->calls->facts->budget);
    bool ok = true;
    for (uint32_t t = 0; ok && t < trace->track_count; t++) {
        if (trace->tracks[t].family != TRACK_HOST)
            continue;
        uint32_t event = 0, parent;
        host_stack_start(&stack, &trace->tracks[t], HOST_STACK_OPS);
        while (ok && event != FACTS_NONE) {
            ok = host_stack_next(&stack, &event, &parent, err);
            if (ok && event != FACTS_NONE)
                walk->parent[event] = parent;
        }
    }
    host_stack_free(&stack);
    return ok;
}

static void leave(struct walk *walk, uint32_t to)
{
    struct op_frame *frame = &walk->frames[--walk->depth];
    walk->visitor->leave(walk->visitor->context, frame, walk->depth ? frame - 1 : NULL, to);
}

// Leaves the calls that are not around op, and returns how many are new, op included. Calls stand
// in the order of their begin, so whoever comes after an ancestor of op without being one is done.
static uint32_t leave_others(struct walk *walk, uint32_t op, uint32_t to)
{
    uint32_t fresh = 0;
    for (uint32_t at = op; at != FACTS_NONE; at = walk->parent[at], fresh++) {
        while (walk->depth && walk->frames[walk->depth - 1].op > at)
            leave(walk, to);
        if (walk->depth && walk->frames[walk->depth - 1].op == at)
            return fresh;
    }
    while (walk->depth)
        leave(walk, to);
    return fresh;
}

static bool reserve(struct walk *walk, uint32_t fresh, struct err *err)
{
    uint32_t cap = walk->cap ? walk->cap : FIRST_CAP;
    while (cap < walk->depth + fresh)
        cap *= 2;
    if (cap == walk->cap)
        return true;
    struct op_frame *frames =
        budget_realloc(walk->calls->facts->budget, walk->frames, walk->cap * sizeof *frames,
                       (size_t)cap * sizeof *frames, err);
    if (!frames)
        return false;
    walk->frames = frames;
    walk->cap = cap;
    return true;
}

static bool enter(struct walk *walk, const struct op_call *call, struct err *err)
{
    const struct op_visitor *visitor = walk->visitor;
    uint32_t fresh = leave_others(walk, call->op, call->from);
    if (!reserve(walk, fresh, err))
        return false;
    struct op_frame *first = walk->frames + walk->depth;
    for (uint32_t i = fresh, at = call->op; i-- > 0; at = walk->parent[at])
        first[i] = (struct op_frame){.op = at, .from = call->from};
    for (uint32_t i = 0; i < fresh; i++, walk->depth++)
        if (!visitor->enter(visitor->context, &first[i], walk->depth ? &first[i] - 1 : NULL, err))
            return false;
    return visitor->launched(visitor->context, &walk->frames[walk->depth - 1], call, err);
}

bool op_calls_walk(const struct op_calls *calls, const struct op_visitor *visitor, struct err *err)
{
    struct budget *budget = calls->facts->budget;
    size_t size = calls->facts->trace->event_count * sizeof(uint32_t);
    struct walk walk = {.calls = calls, .visitor = visitor};
    walk.parent = budget_alloc(budget, size, err);
    bool ok = walk.parent && find_parents(&walk, err);
    for (uint32_t c = 0; ok && c < calls->count; c++)
        ok = enter(&walk, &calls->calls[c], err);
    while (ok && walk.depth)
        leave(&walk, calls->order_count);
    budget_free(budget, walk.frames, walk.cap * sizeof *walk.frames);
    budget_free(budget, walk.parent, size);
    return ok;
}
