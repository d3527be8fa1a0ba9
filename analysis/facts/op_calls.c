// SPDX-License-Identifier: Apache-2.0
// Groups launches by operator call, and walks the tree of calls above them.
#include "analysis/facts/op_calls.h"

#include "analysis/stats/intervals.h"

#define LONG_NAME 1024 // bytes

static bool sort_launches(const struct facts *facts, struct op_calls *calls, struct err *err)
{
    size_t size = 2 * (size_t)facts->launch_count * sizeof(struct keyed);
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    uint32_t count = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (facts->launches[l].op != FACTS_NONE)
            items[count++] = (struct keyed){facts->launches[l].op, l, 0};
    sort_keyed(items, items + facts->launch_count, count);
    for (uint32_t i = 0; i < count; i++)
        calls->order[i] = items[i].a;
    calls->order_count = count;
    budget_free(facts->budget, items, size);
    return true;
}

static void group(const struct op_union *room, struct op_calls *calls)
{
    const struct launch *launches = room->facts->launches;
    for (uint32_t from = 0, to; from < calls->order_count; from = to) {
        uint32_t op = launches[calls->order[from]].op;
        to = from + 1;
        while (to < calls->order_count && launches[calls->order[to]].op == op)
            to++;
        calls->calls[calls->count++] =
            (struct op_call){op, from, to, op_union_time(room, calls->order, from, to)};
    }
}

bool op_calls_make(struct facts *facts, struct err *err)
{
    struct op_calls *calls = arena_alloc(facts->arena, sizeof *calls, err);
    if (!calls)
        return false;
    calls->order = arena_array(facts->arena, facts->launch_count, sizeof *calls->order, err);
    calls->calls = arena_array(facts->arena, facts->launch_count, sizeof *calls->calls, err);
    if (!calls->order || !calls->calls || !sort_launches(facts, calls, err))
        return false;
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct op_union room;
    bool ok = op_union_init(&room, facts, &scratch, err);
    if (ok)
        group(&room, calls);
    arena_free(&scratch);
    facts->calls = calls;
    return ok;
}

bool op_union_init(struct op_union *room, const struct facts *facts, struct arena *arena,
                   struct err *err)
{
    room->facts = facts;
    room->devices = arena_room(arena, 2 * (size_t)facts->linked, sizeof *room->devices, err);
    room->spans = arena_room(arena, facts->linked, sizeof *room->spans, err);
    return room->devices && room->spans;
}

int64_t op_union_time(const struct op_union *room, const uint32_t *order, uint32_t from,
                      uint32_t to)
{
    const struct facts *facts = room->facts;
    uint32_t count = 0;
    for (uint32_t l = from; l < to; l++)
        for (uint32_t d = facts->launches[order[l]].first; d != FACTS_NONE;
             d = facts->devices[d].next)
            room->devices[count++] = (struct keyed){d, d, 0}; // ascending index means ascending
                                                              // begin
    sort_keyed(room->devices, room->devices + facts->linked, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct device_event *device = &facts->devices[room->devices[i].a];
        room->spans[i] = (struct span){device->begin_ns, device->end_ns};
    }
    return intervals_length(room->spans, intervals_union(room->spans, count));
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
    const struct facts *facts;
    const struct op_visitor *visitor;
    struct op_frame *frames;
    uint32_t depth;
    size_t cap;
};

static void leave(struct walk *walk, uint32_t to)
{
    struct op_frame *frame = &walk->frames[--walk->depth];
    walk->visitor->leave(walk->visitor->context, frame, walk->depth ? frame - 1 : NULL, to);
}

// Leaves the calls that are not around op, and returns how many are new, including op. Calls are
// ordered by begin, so anything after an ancestor of op that is not itself an ancestor is done.
static uint32_t leave_others(struct walk *walk, uint32_t op, uint32_t to)
{
    uint32_t fresh = 0;
    for (uint32_t at = op; at != FACTS_NONE; at = walk->facts->op_parent[at], fresh++) {
        while (walk->depth && walk->frames[walk->depth - 1].op > at)
            leave(walk, to);
        if (walk->depth && walk->frames[walk->depth - 1].op == at)
            return fresh;
    }
    while (walk->depth)
        leave(walk, to);
    return fresh;
}

static bool enter(struct walk *walk, const struct op_call *call, struct err *err)
{
    const struct op_visitor *visitor = walk->visitor;
    uint32_t fresh = leave_others(walk, call->op, call->from);
    struct op_frame *frames = budget_room(walk->facts->budget, walk->frames, &walk->cap,
                                          walk->depth + (size_t)fresh, sizeof *frames, err);
    if (!frames)
        return false;
    walk->frames = frames;
    struct op_frame *first = frames + walk->depth;
    for (uint32_t i = fresh, at = call->op; i-- > 0; at = walk->facts->op_parent[at])
        first[i] = (struct op_frame){.op = at, .from = call->from};
    for (uint32_t i = 0; i < fresh; i++, walk->depth++)
        if (!visitor->enter(visitor->context, &first[i], walk->depth ? &first[i] - 1 : NULL, err))
            return false;
    return visitor->launched(visitor->context, &walk->frames[walk->depth - 1], call, err);
}

bool op_calls_walk(const struct facts *facts, const struct op_visitor *visitor, struct err *err)
{
    struct walk walk = {.facts = facts, .visitor = visitor};
    bool ok = true;
    for (uint32_t c = 0; ok && c < facts->calls->count; c++)
        ok = enter(&walk, &facts->calls->calls[c], err);
    while (ok && walk.depth)
        leave(&walk, facts->calls->order_count);
    budget_free(facts->budget, walk.frames, walk.cap * sizeof *walk.frames);
    return ok;
}
