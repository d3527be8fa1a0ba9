// SPDX-License-Identifier: Apache-2.0
// The spans of the passes come from the phases of compute kernels; how long they compute, from the
// sweep; how often they alternate, from the order of their launches.
#include "analysis/trace/step_passes.h"

#include "analysis/stats/sort.h"
#include "analysis/facts/sweep.h"
#include "analysis/report/tables.h"

// A forward with fewer launches than this fraction of the step's longest one is not a micro-batch.
#define SHORT_FORWARD 10

struct pass_span {
    int64_t begin_ns, end_ns; // none if it does not end after it starts
    int64_t compute_ns;
};

struct passes {
    struct pass_span passes, optimizer;
    int64_t last_ns;       // end of the last compute other than the optimizer's
    int64_t micro_batches; // forwards followed by a backward
};

struct step_passes {
    const struct facts *facts;
    const struct comm_phases *phases;
    struct passes *steps; // per step
    uint32_t from;        // first step whose spans may reach the segment
};

static struct pass_span no_span(void)
{
    return (struct pass_span){.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
}

static void widen(struct pass_span *span, int64_t begin_ns, int64_t end_ns)
{
    span->begin_ns = begin_ns < span->begin_ns ? begin_ns : span->begin_ns;
    span->end_ns = end_ns > span->end_ns ? end_ns : span->end_ns;
}

// --- spans --------------------------------------------------------------------------------------

// Schedules without a bubble compute gradients of weights outside of the engine, after the last
// backward: products before the optimizer.
static bool is_deferred(const struct passes *passes, const struct device_event *device,
                        enum comm_phase phase)
{
    return phase == PHASE_OTHER && device->category == CATEGORY_GEMM &&
           passes->passes.end_ns != INT64_MIN && passes->optimizer.end_ns == INT64_MIN;
}

static void add_kernel(struct passes *passes, const struct device_event *device,
                       enum comm_phase phase)
{
    if (phase == PHASE_OPTIMIZER) {
        widen(&passes->optimizer, device->begin_ns, device->end_ns);
        return;
    }
    bool ends = phase == PHASE_BACKWARD || is_deferred(passes, device, phase);
    widen(&passes->passes, device->begin_ns, ends ? device->end_ns : INT64_MIN);
    passes->last_ns = device->end_ns > passes->last_ns ? device->end_ns : passes->last_ns;
}

// Without a backward the passes end with anything other than the optimizer.
static void find_spans(struct step_passes *all)
{
    const struct facts *facts = all->facts;
    for (uint32_t s = 0; s < facts->step_count; s++)
        all->steps[s] =
            (struct passes){.passes = no_span(), .optimizer = no_span(), .last_ns = INT64_MIN};
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->class == CLASS_COMPUTE && device->step != FACTS_NONE)
            add_kernel(&all->steps[device->step], device,
                       comm_phase_of(all->phases, device->launch));
    }
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (all->steps[s].passes.end_ns == INT64_MIN)
            all->steps[s].passes.end_ns = all->steps[s].last_ns;
}

// --- compute ------------------------------------------------------------------------------------

static void add_overlap(struct pass_span *span, const struct segment *segment)
{
    int64_t begin_ns = segment->begin_ns > span->begin_ns ? segment->begin_ns : span->begin_ns;
    int64_t end_ns = segment->end_ns < span->end_ns ? segment->end_ns : span->end_ns;
    span->compute_ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
}

// Kernels of a step may still run when the next one's start, but not when those of the one after it
// do.
static void add_segment(void *context, const struct segment *segment)
{
    struct step_passes *all = context;
    const struct facts *facts = all->facts;
    if (segment->bar > BAR_OTHER_COMPUTE)
        return;
    while (all->from < facts->step_count && facts->steps[all->from].end_ns <= segment->begin_ns)
        all->from++;
    uint32_t first = all->from > 0 ? all->from - 1 : 0;
    for (uint32_t s = first; s < facts->step_count && s <= all->from; s++) {
        add_overlap(&all->steps[s].passes, segment);
        add_overlap(&all->steps[s].optimizer, segment);
    }
}

// --- micro-batches ------------------------------------------------------------------------------

// Compute launches in time order: key, phase, step.
static uint32_t list_launches(const struct step_passes *all, struct keyed *items)
{
    const struct facts *facts = all->facts;
    uint32_t count = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        const struct device_event *device = &facts->devices[facts->launches[l].first];
        enum comm_phase phase = comm_phase_of(all->phases, l);
        bool passes = phase == PHASE_FORWARD || phase == PHASE_BACKWARD;
        if (passes && device->class == CLASS_COMPUTE && device->step != FACTS_NONE)
            items[count++] = (struct keyed){facts->trace->begin_ns[facts->launches[l].event], phase,
                                            device->step};
    }
    sort_keyed(items, items + facts->launch_count, count);
    return count;
}

// The forward that starts at items[i]: its launches; *next is what follows it.
static uint32_t forward_length(const struct keyed *items, uint32_t count, uint32_t i,
                               uint32_t *next)
{
    uint32_t first = i;
    while (i < count && items[i].a == PHASE_FORWARD && items[i].b == items[first].b)
        i++;
    *next = i;
    return i - first;
}

static bool count_turns(struct step_passes *all, struct arena *arena, struct err *err)
{
    const struct facts *facts = all->facts;
    struct keyed *items = arena_room(arena, 2 * (size_t)facts->launch_count, sizeof *items, err);
    uint32_t *longest = arena_array(arena, facts->step_count, sizeof *longest, err);
    if (!items || !longest)
        return false;
    uint32_t count = list_launches(all, items), next;
    for (uint32_t i = 0; i<count; i = next> i ? next : i + 1) {
        uint32_t length = forward_length(items, count, i, &next);
        if (length > longest[items[i].b])
            longest[items[i].b] = length;
    }
    for (uint32_t i = 0; i<count; i = next> i ? next : i + 1) {
        uint32_t length = forward_length(items, count, i, &next), step = items[i].b;
        bool follows = next < count && items[next].b == step && items[next].a == PHASE_BACKWARD;
        bool whole = length > 0 && (uint64_t)length * SHORT_FORWARD >= longest[step];
        all->steps[step].micro_batches += follows && whole;
    }
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

static void add_span(const struct facts *facts, const struct pass_span *span, struct row *row,
                     unsigned column)
{
    bool known = span->end_ns > span->begin_ns;
    row_i64_if(row, column, known, known ? span->begin_ns - facts->begin_ns : 0);
    row_i64_if(row, column + 1, known, known ? span->end_ns - facts->begin_ns : 0);
    row_i64_if(row, column + 2, known, span->compute_ns);
}

static bool add_rows(const struct step_passes *all, struct report *report, struct err *err)
{
    const struct facts *facts = all->facts;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        const struct passes *passes = &all->steps[s];
        struct row row = {.desc = &table_passes};
        row_i64(&row, PASSES_STEP, facts->steps[s].number);
        row_bool(&row, PASSES_STEADY, facts->steps[s].steady);
        add_span(facts, &passes->passes, &row, PASSES_BEGIN_NS);
        add_span(facts, &passes->optimizer, &row, PASSES_OPTIMIZER_BEGIN_NS);
        row_i64_if(&row, PASSES_MICRO_BATCHES, passes->micro_batches > 0, passes->micro_batches);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

bool step_passes_add(const struct facts *facts, const struct comm_phases *phases,
                     struct report *report, struct err *err)
{
    struct arena arena;
    arena_init(&arena, facts->budget);
    struct step_passes all = {.facts = facts, .phases = phases};
    all.steps = arena_array(&arena, facts->step_count, sizeof *all.steps, err);
    bool ok = all.steps;
    if (ok) {
        find_spans(&all);
        sweep_run(facts, SWEEP_ALL, add_segment, &all);
        ok = count_turns(&all, &arena, err) && add_rows(&all, report, err);
    }
    arena_free(&arena);
    return ok;
}
