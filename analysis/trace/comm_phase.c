// SPDX-License-Identifier: Apache-2.0
// Backward is what the autograd engine launches, or any launch on one of its threads; optimizers
// annotate themselves; forward is what a backward follows before the next optimizer.
#include "analysis/trace/comm_phase.h"

#include "analysis/stats/sort.h"
#include "ingest/base/search.h"

// On an engine thread there are at least this many backward launches per other launch (by hooks);
// if one thread runs both passes the ratio is about two.
#define ENGINE_RATIO 4

const char *comm_phase_word(enum comm_phase phase)
{
    static const char *const words[COMM_PHASE_COUNT] = {[PHASE_FORWARD] = "forward",
                                                        [PHASE_BACKWARD] = "backward",
                                                        [PHASE_OPTIMIZER] = "optimizer",
                                                        [PHASE_OTHER] = "other"};
    return words[phase];
}

static bool is_backward(const struct launch *launch)
{
    return launch->backward || launch->recompute;
}

// --- threads of the engine ----------------------------------------------------------------------

// Launches first .. end - 1 are those of one thread.
static void mark_thread(const struct facts *facts, uint32_t first, uint32_t end, uint8_t *engine)
{
    uint64_t backward = 0, others = 0;
    for (uint32_t l = first; l < end; l++) {
        const struct launch *launch = &facts->launches[l];
        backward += is_backward(launch);
        others += !is_backward(launch) && facts->devices[launch->first].class == CLASS_COMPUTE;
    }
    memset(engine + first, backward > 0 && others * ENGINE_RATIO <= backward, end - first);
}

static void mark_threads(const struct facts *facts, uint8_t *engine)
{
    const struct trace *trace = facts->trace;
    uint32_t next = 0;
    for (uint32_t t = 0; t < trace->track_count && next < facts->launch_count; t++) {
        uint32_t first = next, end = trace->tracks[t].first + trace->tracks[t].count;
        while (next < facts->launch_count && facts->launches[next].event < end)
            next++;
        mark_thread(facts, first, next, engine);
    }
}

// --- times --------------------------------------------------------------------------------------

static bool find_backward(struct comm_phases *phases, struct arena *arena, struct err *err)
{
    const struct facts *facts = phases->facts;
    int64_t *times = arena_room(arena, 2 * (size_t)facts->launch_count, sizeof *times, err);
    if (!times)
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (is_backward(&facts->launches[l]))
            times[phases->backward_count++] = facts->trace->begin_ns[facts->launches[l].event];
    sort_i64(times, times + facts->launch_count, phases->backward_count);
    phases->backward_ns = times;
    return true;
}

static bool is_optimizer(const struct trace *trace, uint32_t event)
{
    return trace->kind[event] == EVENT_ANNOTATION &&
           str_starts_with(trace_text(trace, trace->name[event]), STR("Optimizer.step"));
}

static bool optimizes(const struct facts *facts, const struct launch *launch)
{
    const struct device_event *device = &facts->devices[launch->first];
    return device->class == CLASS_COMPUTE && device->category == CATEGORY_OPTIMIZER &&
           !is_backward(launch);
}

// Annotations or, if there are none, the launches of optimizer kernels.
static uint32_t list_optimizer(const struct facts *facts, struct keyed *items)
{
    const struct trace *trace = facts->trace;
    uint32_t count = 0;
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (is_optimizer(trace, e)) {
            if (items)
                items[count] = (struct keyed){trace->begin_ns[e], e, 0};
            count++;
        }
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (optimizes(facts, &facts->launches[l])) {
            uint32_t event = facts->launches[l].event;
            if (items)
                items[count] = (struct keyed){trace->begin_ns[event], event, 0};
            count++;
        }
    return count;
}

static bool find_optimizer(struct comm_phases *phases, struct arena *arena, struct err *err)
{
    const struct facts *facts = phases->facts;
    uint32_t count = list_optimizer(facts, NULL);
    struct keyed *items = arena_room(arena, 2 * (size_t)count, sizeof *items, err);
    phases->optimizer = arena_room(arena, count, sizeof *phases->optimizer, err);
    if (!items || !phases->optimizer)
        return false;
    list_optimizer(facts, items);
    sort_keyed(items, items + count, count);
    int64_t end_ns = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        int64_t own_ns = is_optimizer(facts->trace, items[i].a)
                             ? facts_event_end(facts->trace, items[i].a)
                             : items[i].key;
        end_ns = own_ns > end_ns ? own_ns : end_ns;
        phases->optimizer[i] = (struct phase_span){items[i].key, end_ns};
    }
    phases->optimizer_count = count;
    return true;
}

// --- one launch ---------------------------------------------------------------------------------

// How many optimizers started at `now` or before.
static uint32_t optimizers_by(const struct comm_phases *phases, int64_t now)
{
    return count_upto_i64(FIRST_OF(phases->optimizer, begin_ns), phases->optimizer_count,
                          sizeof *phases->optimizer, now);
}

static int64_t next_backward(const struct comm_phases *phases, int64_t now)
{
    uint32_t past = count_upto_i64(phases->backward_ns, phases->backward_count,
                                   sizeof *phases->backward_ns, now);
    return past < phases->backward_count ? phases->backward_ns[past] : INT64_MAX;
}

// End of the step's mark around `now`, the largest number if none.
static int64_t mark_end(const struct facts *facts, int64_t now)
{
    uint32_t count = facts->marked ? facts->step_count : 0;
    uint32_t at =
        count_upto_i64(FIRST_OF(facts->steps, mark_end_ns), count, sizeof *facts->steps, now);
    bool inside = at < count && facts->steps[at].mark_begin_ns <= now;
    return inside ? facts->steps[at].mark_end_ns : INT64_MAX;
}

// engine: its thread only runs the backward.
static enum comm_phase phase_of(const struct comm_phases *phases, const struct launch *launch,
                                bool engine)
{
    const struct facts *facts = phases->facts;
    int64_t now = facts->trace->begin_ns[launch->event];
    uint32_t begun = optimizers_by(phases, now);
    if (is_backward(launch) || engine)
        return PHASE_BACKWARD;
    if (begun > 0 && phases->optimizer[begun - 1].end_ns > now)
        return PHASE_OPTIMIZER;
    if (launch->module)
        return PHASE_FORWARD;
    if (phases->backward_count == 0)
        return PHASE_UNKNOWN;
    int64_t until_ns = mark_end(facts, now);
    if (begun < phases->optimizer_count && phases->optimizer[begun].begin_ns < until_ns)
        until_ns = phases->optimizer[begun].begin_ns;
    return next_backward(phases, now) < until_ns ? PHASE_FORWARD : PHASE_OTHER;
}

bool comm_phases_make(const struct facts *facts, struct arena *arena, struct comm_phases *phases,
                      struct err *err)
{
    *phases = (struct comm_phases){.facts = facts};
    phases->of = arena_array(arena, facts->launch_count, 1, err);
    if (!phases->of || !find_backward(phases, arena, err) || !find_optimizer(phases, arena, err))
        return false;
    mark_threads(facts, phases->of);
    for (uint32_t l = 0; l < facts->launch_count; l++)
        phases->of[l] = (uint8_t)phase_of(phases, &facts->launches[l], phases->of[l]);
    return true;
}
