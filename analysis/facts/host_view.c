// SPDX-License-Identifier: Apache-2.0
// Cursors side by side, and the open events whose names show why a thread waits.
#include "analysis/facts/host_view.h"

#include "analysis/facts/facts.h"

static void start_stack(struct host_stack *stack, const struct host_traits *traits,
                        const struct track *track, uint32_t kinds)
{
    static const struct track empty = {0};
    host_stack_init(stack, traits->trace, traits->budget);
    host_stack_start(stack, track ? track : &empty, kinds);
}

static void start_row(struct host_row *row, const struct host_traits *traits,
                      const struct track *track, uint32_t kinds)
{
    start_stack(&row->stack, traits, track, kinds);
    row->seen = row->stack.next;
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        row->open[t] = (struct host_open){FACTS_NONE, INT64_MIN};
}

void host_view_init(struct host_view *view, struct host_traits *traits, struct host_tracks tracks)
{
    view->traits = traits;
    start_row(&view->calls, traits, tracks.calls,
              HOST_STACK_OPS | HOST_STACK_CALLS | HOST_STACK_NOTES);
    start_row(&view->frames, traits, tracks.frames, HOST_STACK_FRAMES);
    start_stack(&view->system, traits, tracks.system, 1u << EVENT_OS_CALL);
}

void host_view_free(struct host_view *view)
{
    host_stack_free(&view->calls.stack);
    host_stack_free(&view->frames.stack);
    host_stack_free(&view->system);
}

// Makes an event that started the open one of its traits, unless a longer one is open.
static void note(struct host_row *row, struct host_traits *traits, uint32_t event)
{
    unsigned bits = host_traits_of(traits, event);
    if (!bits)
        return;
    int64_t end_ns = facts_event_end(traits->trace, event);
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        if (bits >> t & 1 && end_ns > row->open[t].end_ns)
            row->open[t] = (struct host_open){event, end_ns};
}

static void lower(int64_t *until_ns, int64_t limit_ns)
{
    if (limit_ns < *until_ns)
        *until_ns = limit_ns;
}

// The innermost event of the stack at the moment.
static bool innermost(struct host_stack *stack, int64_t now_ns, struct host_moment *moment,
                      uint32_t *event, struct err *err)
{
    if (!host_stack_find(stack, now_ns, now_ns + 1, event, err))
        return false;
    if (stack->next < stack->end)
        lower(&moment->until_ns, stack->trace->begin_ns[stack->next]);
    if (*event != FACTS_NONE)
        lower(&moment->until_ns, facts_event_end(stack->trace, *event));
    return true;
}

// The innermost event of the row at the moment; records what is open there.
static bool look(struct host_row *row, struct host_traits *traits, int64_t now_ns,
                 struct host_moment *moment, uint32_t *event, struct err *err)
{
    if (!innermost(&row->stack, now_ns, moment, event, err))
        return false;
    for (; row->seen < row->stack.next; row->seen++)
        note(row, traits, row->seen);
    for (int t = 0; t < HOST_TRAIT_COUNT; t++) {
        if (row->open[t].end_ns <= now_ns)
            continue;
        lower(&moment->until_ns, row->open[t].end_ns);
        if (moment->open[t] == FACTS_NONE)
            moment->open[t] = row->open[t].event;
    }
    return true;
}

// The one that started later, a on a tie; either may be FACTS_NONE.
static uint32_t later(const struct trace *trace, uint32_t a, uint32_t b)
{
    if (a == FACTS_NONE || b == FACTS_NONE)
        return a == FACTS_NONE ? b : a;
    return trace->begin_ns[b] > trace->begin_ns[a] ? b : a;
}

bool host_view_at(struct host_view *view, int64_t now_ns, struct host_moment *moment,
                  struct err *err)
{
    const struct trace *trace = view->traits->trace;
    uint32_t inner, frame, system;
    *moment = (struct host_moment){.until_ns = INT64_MAX};
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        moment->open[t] = FACTS_NONE;
    if (!look(&view->calls, view->traits, now_ns, moment, &inner, err) ||
        !look(&view->frames, view->traits, now_ns, moment, &frame, err) ||
        !innermost(&view->system, now_ns, moment, &system, err))
        return false;
    moment->bare =
        frame == FACTS_NONE && (inner == FACTS_NONE || trace->kind[inner] == EVENT_ANNOTATION);
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        moment->bare &= moment->open[t] == FACTS_NONE;
    moment->event = later(trace, system, later(trace, inner, frame));
    return true;
}
