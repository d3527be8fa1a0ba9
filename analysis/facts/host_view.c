// SPDX-License-Identifier: Apache-2.0
// Two cursors side by side, and the open events whose names show why a thread waits.
#include "analysis/facts/host_view.h"

#include "analysis/facts/facts.h"

static void start_row(struct host_row *row, const struct host_traits *traits,
                      const struct track *track, uint32_t kinds)
{
    static const struct track empty = {0};
    host_stack_init(&row->stack, traits->trace, traits->budget);
    host_stack_start(&row->stack, track ? track : &empty, kinds);
    row->seen = row->stack.next;
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        row->open[t] = (struct host_open){FACTS_NONE, INT64_MIN};
}

void host_view_init(struct host_view *view, struct host_traits *traits, const struct track *calls,
                    const struct track *frames)
{
    view->traits = traits;
    start_row(&view->calls, traits, calls, HOST_STACK_OPS | HOST_STACK_CALLS | HOST_STACK_NOTES);
    start_row(&view->frames, traits, frames, HOST_STACK_FRAMES);
}

void host_view_free(struct host_view *view)
{
    host_stack_free(&view->calls.stack);
    host_stack_free(&view->frames.stack);
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

// The innermost event of the row at the moment; records what is open there.
static bool look(struct host_row *row, struct host_traits *traits, int64_t now_ns,
                 struct host_moment *moment, uint32_t *event, struct err *err)
{
    struct host_stack *stack = &row->stack;
    if (!host_stack_find(stack, now_ns, now_ns + 1, event, err))
        return false;
    for (; row->seen < stack->next; row->seen++)
        note(row, traits, row->seen);
    if (stack->next < stack->end)
        lower(&moment->until_ns, traits->trace->begin_ns[stack->next]);
    if (*event != FACTS_NONE)
        lower(&moment->until_ns, facts_event_end(traits->trace, *event));
    for (int t = 0; t < HOST_TRAIT_COUNT; t++) {
        if (row->open[t].end_ns <= now_ns)
            continue;
        lower(&moment->until_ns, row->open[t].end_ns);
        if (moment->open[t] == FACTS_NONE)
            moment->open[t] = row->open[t].event;
    }
    return true;
}

bool host_view_at(struct host_view *view, int64_t now_ns, struct host_moment *moment,
                  struct err *err)
{
    const struct trace *trace = view->traits->trace;
    uint32_t inner, frame;
    *moment = (struct host_moment){.until_ns = INT64_MAX};
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        moment->open[t] = FACTS_NONE;
    if (!look(&view->calls, view->traits, now_ns, moment, &inner, err) ||
        !look(&view->frames, view->traits, now_ns, moment, &frame, err))
        return false;
    moment->bare =
        frame == FACTS_NONE && (inner == FACTS_NONE || trace->kind[inner] == EVENT_ANNOTATION);
    for (int t = 0; t < HOST_TRAIT_COUNT; t++)
        moment->bare &= moment->open[t] == FACTS_NONE;
    moment->event = inner;
    if (inner == FACTS_NONE ||
        (frame != FACTS_NONE && trace->begin_ns[frame] > trace->begin_ns[inner]))
        moment->event = frame;
    return true;
}
