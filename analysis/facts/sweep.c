// SPDX-License-Identifier: Apache-2.0
// One pass in time with a cursor per bar. Because time only advances, the owner within a bar is the
// first event in its list that has not ended, so no heap is needed.
#include "analysis/facts/sweep.h"

#include "analysis/facts/gaps.h"

#include <assert.h>

struct sweep {
    const struct facts *facts;
    const uint32_t *list;
    uint32_t count;
    uint32_t at[BAR_DEVICE_COUNT]; // positions in the list; count once a bar has no more events
    uint32_t step;                 // first step that ends after now
    const struct gap_list *gaps;
    uint32_t gap; // first gap that ends after now
};

static uint32_t device_at(const struct sweep *sweep, uint32_t position)
{
    return sweep->list ? sweep->list[position] : position;
}

static const struct device_event *head_of(const struct sweep *sweep, enum bar bar)
{
    if (sweep->at[bar] == sweep->count)
        return NULL;
    return &sweep->facts->devices[device_at(sweep, sweep->at[bar])];
}

// Moves the bar's cursor to its first event that ends after now.
static void advance(struct sweep *sweep, enum bar bar, int64_t now)
{
    uint32_t i = sweep->at[bar];
    for (; i < sweep->count; i++) {
        const struct device_event *device = &sweep->facts->devices[device_at(sweep, i)];
        if (device->bar == (uint8_t)bar && device->end_ns > now)
            break;
    }
    sweep->at[bar] = i;
}

// Sets the step and cuts the segment at its bounds.
static void cut_at_step(struct sweep *sweep, struct segment *segment)
{
    const struct facts *facts = sweep->facts;
    while (sweep->step < facts->step_count && facts->steps[sweep->step].end_ns <= segment->begin_ns)
        sweep->step++;
    if (sweep->step == facts->step_count)
        return;
    const struct step *step = &facts->steps[sweep->step];
    bool inside = step->begin_ns <= segment->begin_ns;
    int64_t bound_ns = inside ? step->end_ns : step->begin_ns;
    if (inside)
        segment->step = sweep->step;
    if (bound_ns < segment->end_ns)
        segment->end_ns = bound_ns;
}

// Lets one bar claim the segment and cut it where the bar next changes.
static void claim(struct sweep *sweep, enum bar bar, struct segment *segment)
{
    advance(sweep, bar, segment->begin_ns);
    const struct device_event *head = head_of(sweep, bar);
    if (!head)
        return;
    bool runs = head->begin_ns <= segment->begin_ns;
    int64_t change_ns = runs ? head->end_ns : head->begin_ns;
    if (change_ns < segment->end_ns)
        segment->end_ns = change_ns;
    if (!runs)
        return;
    segment->communicates |= bar == BAR_EXPOSED_COMM;
    segment->copies |= bar == BAR_EXPOSED_MEMORY;
    if (segment->bar != BAR_COUNT)
        return;
    segment->bar = bar;
    segment->device = device_at(sweep, sweep->at[bar]);
}

// If no device event runs, the gap says why.
static void explain(struct sweep *sweep, struct segment *segment)
{
    const struct gap_list *list = sweep->gaps;
    while (sweep->gap < list->count && list->gaps[sweep->gap].end_ns <= segment->begin_ns)
        sweep->gap++;
    const struct gap *gap = &list->gaps[sweep->gap];
    assert(sweep->gap < list->count && gap->begin_ns <= segment->begin_ns &&
           gap->end_ns >= segment->end_ns); // idle time is always within one
    segment->device = gap->next;
    segment->cause = (enum idle_cause)gap->cause;
    segment->bar = idle_cause_bar(segment->cause);
}

static struct segment segment_at(struct sweep *sweep, int64_t now)
{
    struct segment segment = {
        .begin_ns = now,
        .end_ns = sweep->facts->end_ns,
        .step = FACTS_NONE,
        .bar = BAR_COUNT,
        .device = FACTS_NONE,
    };
    for (int b = 0; b < BAR_DEVICE_COUNT; b++)
        claim(sweep, (enum bar)b, &segment);
    cut_at_step(sweep, &segment);
    if (segment.bar == BAR_COUNT)
        explain(sweep, &segment);
    segment.waits_only = segment.communicates && sweep->facts->waits_only;
    return segment;
}

void sweep_add(struct parts *parts, const struct segment *segment)
{
    int64_t length_ns = segment->end_ns - segment->begin_ns;
    parts->bar_ns[segment->bar] += length_ns;
    if (segment->bar >= BAR_DEVICE_COUNT)
        parts->idle_ns[segment->cause] += length_ns;
    parts->total_comm_ns += segment->communicates ? length_ns : 0;
    parts->total_memory_ns += segment->copies ? length_ns : 0;
    parts->waits_only |= segment->waits_only;
}

void sweep_run(const struct facts *facts, uint32_t gpu, segment_visitor *visit, void *context)
{
    bool all = gpu == SWEEP_ALL;
    struct sweep sweep = {
        .facts = facts,
        .list = all ? NULL : facts->gpu_devices + facts->gpu_first[gpu],
        .count = all ? facts->device_count : facts->gpu_first[gpu + 1] - facts->gpu_first[gpu],
        .step = all ? 0 : facts->step_count,
        .gaps = all || !facts->gpu_gaps ? &facts->gaps : &facts->gpu_gaps[gpu],
    };
    for (int64_t now = facts->begin_ns; now < facts->end_ns;) {
        struct segment segment = segment_at(&sweep, now);
        assert(segment.begin_ns == now && segment.end_ns > now && segment.end_ns <= facts->end_ns);
        visit(context, &segment);
        now = segment.end_ns;
    }
}
