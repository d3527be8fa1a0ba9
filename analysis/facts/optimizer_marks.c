// SPDX-License-Identifier: Apache-2.0
// Which optimizers of a trace end a step: one of each iteration.
#include "analysis/facts/optimizer_marks.h"

#include "analysis/facts/host_stack.h"
#include "analysis/facts/track_pairs.h"
#include "ingest/base/search.h"

#define TURNS_MAX  4 // optimizers of one class in an iteration
#define TURNS_SEEN 3 // iterations in which they must have taken turns

bool optimizer_marks_outside(const struct facts *facts, struct keyed *items, uint32_t *count,
                             struct err *err)
{
    const struct trace *trace = facts->trace;
    uint32_t kept = 0, row = FACTS_NONE, op = FACTS_NONE;
    struct host_stack stack;
    bool ok = true;
    host_stack_init(&stack, trace, facts->budget);
    for (uint32_t i = 0; ok && i < *count; i++) {
        uint32_t event = items[i].a, track = track_of_event(trace, event);
        if (track != row)
            host_stack_start(&stack, &trace->tracks[track], HOST_STACK_OPS);
        row = track;
        ok = host_stack_find(&stack, items[i].key, facts_event_end(trace, event), &op, err);
        bool outside = op == FACTS_NONE || str_find(trace_text(trace, trace->name[op]),
                                                    STR("AccumulateGrad")) == SIZE_MAX;
        if (outside)
            items[kept++] = items[i];
    }
    host_stack_free(&stack);
    *count = kept;
    return ok;
}

static uint32_t begun_by(const struct step_marks *marks, int64_t at_ns)
{
    return count_upto_i64(FIRST_OF(marks->marks, begin_ns), marks->count, sizeof *marks->marks,
                          at_ns);
}

// Whether something that computes was launched between each mark and the next; false if that is so
// nowhere.
static bool find_work_between(const struct facts *facts, const struct step_marks *marks,
                              bool *works)
{
    bool any = false;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        if (device->launch == FACTS_NONE || device->class != CLASS_COMPUTE)
            continue;
        int64_t at_ns = facts->trace->begin_ns[facts->launches[device->launch].event];
        uint32_t begun = begun_by(marks, at_ns);
        if (begun && begun < marks->count && at_ns >= marks->marks[begun - 1].end_ns)
            works[begun - 1] = any = true;
    }
    return any;
}

// Several optimizers that step one after the other end the same iteration.
static bool join_iterations(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    size_t size = marks->count * sizeof(bool);
    bool *works = budget_zalloc(facts->budget, size, err);
    if (!works)
        return false;
    uint32_t last = 0;
    bool any = find_work_between(facts, marks, works);
    for (uint32_t i = 1; any && i < marks->count; i++)
        if (works[i - 1])
            marks->marks[++last] = marks->marks[i];
        else
            marks->marks[last].end_ns = marks->marks[i].end_ns;
    marks->count = any ? last + 1 : marks->count;
    budget_free(facts->budget, works, size);
    return true;
}

// Of optimizers of several classes, as in a GAN, one marks steps: the one that steps most often,
// the first of equals.
static bool keep_class(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    const struct trace *trace = facts->trace;
    size_t size = trace->strings.count * sizeof(uint32_t);
    uint32_t *counts = budget_zalloc(facts->budget, size, err), kept = 0;
    if (!counts)
        return false;
    for (uint32_t i = 0; i < marks->count; i++)
        counts[trace->name[marks->marks[i].event]]++;
    str_id most = trace->name[marks->marks[0].event];
    for (uint32_t i = 1; i < marks->count; i++)
        if (counts[trace->name[marks->marks[i].event]] > counts[most])
            most = trace->name[marks->marks[i].event];
    for (uint32_t i = 0; i < marks->count; i++)
        if (trace->name[marks->marks[i].event] == most)
            marks->marks[kept++] = marks->marks[i];
    marks->count = kept;
    budget_free(facts->budget, counts, size);
    return true;
}

// How much was launched, in kernels and their blocks.
struct launched {
    uint64_t update; // by the optimizer, which its parameters decide
    uint64_t after;  // up to the next one
};

static void measure(const struct facts *facts, const struct step_marks *marks,
                    struct launched *launched)
{
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        if (device->launch == FACTS_NONE || device->class != CLASS_COMPUTE)
            continue;
        int64_t at_ns = facts->trace->begin_ns[facts->launches[device->launch].event];
        uint32_t begun = begun_by(marks, at_ns);
        struct launch_shape shape = facts_launch_shape(facts, d);
        uint64_t blocks = (uint64_t)shape.grid[0] * (uint64_t)shape.grid[1];
        bool updates = begun && at_ns < marks->marks[begun - 1].end_ns;
        if (begun)
            *(updates ? &launched[begun - 1].update : &launched[begun - 1].after) +=
                1 + blocks * (uint64_t)shape.grid[2];
    }
}

// Whether updates differ, but are the same again after each period. In the first one optimizers may
// have prepared their state.
static bool repeats(const struct launched *launched, uint32_t count, uint32_t period)
{
    bool differs = false;
    for (uint32_t i = period; i < count; i++) {
        differs |= launched[i].update != launched[period].update;
        if (i + period < count && launched[i].update != launched[i + period].update)
            return false;
    }
    return differs && count >= TURNS_SEEN * period;
}

// Whether what follows one turn always differs from what follows the next: other models compute.
// It does not where one optimizer averages its parameters every few updates.
static bool alternates(const struct launched *launched, uint32_t count, uint32_t period)
{
    for (uint32_t turn = 0; turn < period; turn++) {
        uint32_t i = period + turn;
        while (i + 1 < count && launched[i].after != launched[i + 1].after)
            i += period;
        if (i + 1 >= count)
            return true;
    }
    return false;
}

// Optimizers of one class that take turns, as the two of a GAN, have different parameters: one
// marks steps, the first.
static bool keep_turn(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    size_t size = marks->count * sizeof(struct launched);
    struct launched *launched = budget_zalloc(facts->budget, size, err);
    uint32_t period = 2, kept = 0;
    if (!launched)
        return false;
    measure(facts, marks, launched);
    while (period <= TURNS_MAX &&
           !(repeats(launched, marks->count, period) && alternates(launched, marks->count, period)))
        period++;
    for (uint32_t i = 0; period <= TURNS_MAX && i < marks->count; i += period)
        marks->marks[kept++] = marks->marks[i];
    marks->count = kept ? kept : marks->count;
    budget_free(facts->budget, launched, size);
    return true;
}

bool optimizer_marks_settle(const struct facts *facts, struct step_marks *marks, struct err *err)
{
    if (!join_iterations(facts, marks, err) || !keep_class(facts, marks, err) ||
        !keep_turn(facts, marks, err))
        return false;
    for (uint32_t i = 0; i + 1 < marks->count; i++)
        marks->marks[i].end_ns = marks->marks[i + 1].begin_ns;
    if (marks->count == 1)
        marks->count = 0; // the end of a step that has no known beginning
    return true;
}
