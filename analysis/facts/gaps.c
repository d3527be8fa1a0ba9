// SPDX-License-Identifier: Apache-2.0
// Finds the gaps of all devices merged and of each device, in one pass over the events.
#include "analysis/facts/gaps.h"

#include "analysis/facts/gap_judge.h"

#include <assert.h>

// The device events of one list, in order of begin.
struct walk {
    const struct facts *facts;
    const uint32_t *list; // NULL: all events
    uint32_t count;
    uint32_t *last;                // per row of the trace: its last event so far, or FACTS_NONE
    const struct gap_list *merged; // gaps of all devices, if the list is of one
};

static uint32_t device_at(const struct walk *walk, uint32_t position)
{
    return walk->list ? walk->list[position] : position;
}

// Moves past a device event. True if it ends a gap, which is then in *gap.
static bool step_over(const struct facts *facts, uint32_t device, int64_t *end_ns, uint32_t *before,
                      struct gap *gap)
{
    const struct device_event *event = &facts->devices[device];
    *gap = (struct gap){*end_ns, event->begin_ns, *before, device, FACTS_NONE, IDLE_UNKNOWN};
    if (event->end_ns >= *end_ns) {
        *end_ns = event->end_ns;
        *before = device;
    }
    return gap->begin_ns < gap->end_ns;
}

// The gap between the last event and the end of the window.
static bool last_gap(const struct facts *facts, int64_t end_ns, uint32_t before, struct gap *gap)
{
    *gap = (struct gap){end_ns, facts->end_ns, before, FACTS_NONE, FACTS_NONE, IDLE_UNKNOWN};
    return end_ns < facts->end_ns;
}

static uint32_t count_gaps(const struct walk *walk)
{
    int64_t end_ns = walk->facts->begin_ns;
    uint32_t count = 0, before = FACTS_NONE;
    struct gap gap;
    for (uint32_t i = 0; i < walk->count; i++)
        count += step_over(walk->facts, device_at(walk, i), &end_ns, &before, &gap);
    return count + last_gap(walk->facts, end_ns, before, &gap);
}

// With judge NULL causes stay unknown.
static bool fill(const struct walk *walk, struct gap_judge *judge, struct gap_list *list,
                 struct err *err)
{
    const struct facts *facts = walk->facts;
    int64_t end_ns = facts->begin_ns;
    uint32_t before = FACTS_NONE;
    for (uint32_t t = 0; judge && t < facts->trace->track_count; t++)
        walk->last[t] = FACTS_NONE;
    if (judge)
        gap_judge_start(judge, &(struct gap_scope){walk->list, walk->count, walk->merged});
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t device = device_at(walk, i);
        struct gap *gap = &list->gaps[list->count];
        uint32_t *last = &walk->last[facts->devices[device].track];
        bool found = step_over(facts, device, &end_ns, &before, gap);
        assert(!found || list->count == 0 || gap[-1].end_ns <= gap->begin_ns);
        if (found && judge && !gap_judge_decide(judge, gap, (struct gap_place){i, *last}, err))
            return false;
        list->count += found;
        *last = device;
    }
    struct gap *gap = &list->gaps[list->count];
    if (!last_gap(facts, end_ns, before, gap))
        return true;
    list->count++;
    return !judge || gap_judge_decide(judge, gap, (struct gap_place){walk->count, FACTS_NONE}, err);
}

// One more than counted: fill looks at the place after the last one.
static bool make_list(const struct walk *walk, struct gap_judge *judge, struct gap_list *list,
                      struct err *err)
{
    size_t count = (size_t)count_gaps(walk) + 1;
    list->count = 0;
    list->gaps = arena_array(walk->facts->arena, count, sizeof *list->gaps, err);
    return list->gaps && fill(walk, judge, list, err);
}

bool facts_list_gpus(struct facts *facts, struct err *err)
{
    uint32_t *list = arena_array(facts->arena, facts->device_count, sizeof *list, err);
    uint32_t *first = arena_array(facts->arena, (size_t)facts->gpu_count + 2, sizeof *first, err);
    if (!list || !first)
        return false;
    uint32_t *ends = first + 1; // first[g + 1] counts up from g's start to its end
    for (uint32_t i = 0; i < facts->device_count; i++)
        ends[facts->track_gpu[facts->devices[i].track] + 1]++;
    for (uint32_t g = 0; g < facts->gpu_count; g++)
        ends[g + 1] += ends[g];
    for (uint32_t i = 0; i < facts->device_count; i++)
        list[ends[facts->track_gpu[facts->devices[i].track]]++] = i;
    facts->gpu_devices = list;
    facts->gpu_first = first;
    return true;
}

static bool make_each(struct facts *facts, struct gap_judge *judge, uint32_t *last, struct err *err)
{
    facts->gpu_gaps = arena_array(facts->arena, facts->gpu_count, sizeof *facts->gpu_gaps, err);
    if (!facts->gpu_gaps)
        return false;
    for (uint32_t g = 0; g < facts->gpu_count; g++) {
        struct walk walk = {facts, facts->gpu_devices + facts->gpu_first[g],
                            facts->gpu_first[g + 1] - facts->gpu_first[g], last, &facts->gaps};
        bool judged = g < GAPS_MAX_DEVICES;
        if (!make_list(&walk, judged ? judge : NULL, &facts->gpu_gaps[g], err))
            return false;
    }
    return true;
}

bool gaps_make(struct facts *facts, struct err *err)
{
    if (!facts_list_gpus(facts, err))
        return false;
    struct gap_judge judge;
    bool ok = gap_judge_init(&judge, facts, err);
    uint32_t *last =
        ok ? arena_array(&judge.arena, facts->trace->track_count, sizeof *last, err) : NULL;
    struct walk all = {facts, NULL, facts->device_count, last, NULL};
    ok = last && make_list(&all, &judge, &facts->gaps, err) &&
         (facts->gpu_count < 2 || make_each(facts, &judge, last, err));
    gap_judge_free(&judge);
    return ok;
}
