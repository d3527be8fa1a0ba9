// SPDX-License-Identifier: Apache-2.0
// Visits the events row by row, in order, so that each row is walked once.
#include "analysis/facts/host_places.h"

#include "analysis/facts/facts.h"
#include "analysis/facts/host_stack.h"
#include "analysis/stats/sort.h"
#include "analysis/facts/track_pairs.h"

struct places_walk {
    const struct trace *trace;
    struct host_place *places;
    struct keyed *items; // key: event, a: its place
    uint32_t *host_of, *python_of;
    struct host_stack stack;
};

// The places items[from .. to - 1] are on one row, of either family; searches the row of the given
// family.
static bool visit(struct places_walk *walk, uint32_t from, uint32_t to, uint32_t row,
                  uint32_t kinds, struct err *err)
{
    const struct trace *trace = walk->trace;
    if (row == FACTS_NONE)
        return true;
    host_stack_start(&walk->stack, &trace->tracks[row], kinds);
    for (uint32_t i = from; i < to; i++) {
        struct host_place *place = &walk->places[walk->items[i].a];
        int64_t begin_ns = trace->begin_ns[place->event];
        uint32_t *found = kinds == HOST_STACK_OPS     ? &place->op
                          : kinds == HOST_STACK_NOTES ? &place->note
                                                      : &place->frame;
        if (!host_stack_find(&walk->stack, begin_ns, begin_ns, found, err))
            return false;
    }
    return true;
}

static bool visit_all(struct places_walk *walk, uint32_t count, struct err *err)
{
    const struct trace *trace = walk->trace;
    for (uint32_t from = 0, to; from < count; from = to) {
        uint32_t track = track_of_event(trace, (uint32_t)walk->items[from].key);
        uint32_t end = trace->tracks[track].first + trace->tracks[track].count;
        for (to = from + 1; to < count && walk->items[to].key < end;)
            to++;
        if (!visit(walk, from, to, walk->host_of[track], HOST_STACK_OPS, err) ||
            !visit(walk, from, to, walk->host_of[track], HOST_STACK_NOTES, err) ||
            !visit(walk, from, to, walk->python_of[track], HOST_STACK_FRAMES, err))
            return false;
    }
    return true;
}

bool host_places_fill(const struct trace *trace, struct host_place *places, uint32_t count,
                      struct err *err)
{
    struct arena arena;
    arena_init(&arena, trace->budget);
    struct places_walk walk = {.trace = trace, .places = places};
    walk.items = arena_array(&arena, 2 * (size_t)count, sizeof *walk.items, err);
    host_stack_init(&walk.stack, trace, trace->budget);
    for (uint32_t i = 0; walk.items && i < count; i++) {
        walk.items[i] = (struct keyed){places[i].event, i, 0};
        places[i].op = places[i].note = places[i].frame = FACTS_NONE;
    }
    if (walk.items)
        sort_keyed(walk.items, walk.items + count, count);
    bool ok = walk.items && track_pairs_make(trace, TRACK_HOST, &arena, &walk.host_of, err) &&
              track_pairs_make(trace, TRACK_PYTHON, &arena, &walk.python_of, err) &&
              visit_all(&walk, count, err);
    host_stack_free(&walk.stack);
    arena_free(&arena);
    return ok;
}
