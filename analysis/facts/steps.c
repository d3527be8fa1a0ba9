// SPDX-License-Identifier: Apache-2.0
// Turns marks on the host, else those on devices, into steps on the device and drops the warm-up.
#include "analysis/facts/steps.h"

#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/facts/evaluation.h"
#include "analysis/facts/step_marks.h"
#include "ingest/base/search.h"

#include <assert.h>
#include <string.h>

// Of the usable steps; a warm-up has no more than the larger one.
#define WARMUP_STEPS 2
#define WARMUP_SHARE 0.25

static const char *const reason_empty = "it launched no compute on the main stream";
static const char *const reason_overtaken = "its compute ended before that of the previous step";
static const char *const reason_open = "its annotation has no end";
static const char *const reason_unended = "the optimizer step that would end it was not recorded";
static const char *const reason_cut = "the recording ended before all the work it launched";
static const char *const reason_first = "warm-up: the first step";
static const char *const reason_outlier =
    "warm-up: a leading step more than three robust standard deviations from the later ones";
static const char *const reason_chosen = "warm-up: excluded by request";

uint32_t steps_marked_at(const struct facts *facts, int64_t time_ns)
{
    uint32_t begun = count_upto_i64(FIRST_OF(facts->steps, mark_begin_ns), facts->step_count,
                                    sizeof *facts->steps, time_ns);
    return begun && time_ns < facts->steps[begun - 1].mark_end_ns ? begun - 1 : FACTS_NONE;
}

// Index of the step that covers the device time, or FACTS_NONE.
static uint32_t step_at(const struct facts *facts, int64_t time_ns)
{
    uint32_t begun = count_upto_i64(FIRST_OF(facts->steps, begin_ns), facts->step_count,
                                    sizeof *facts->steps, time_ns);
    return begun && time_ns < facts->steps[begun - 1].end_ns ? begun - 1 : FACTS_NONE;
}

// Assigns launched events to the step whose mark covers their launch.
static void assign_launched(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->device_count; i++) {
        struct device_event *device = &facts->devices[i];
        if (device->launch == FACTS_NONE)
            continue;
        uint32_t event = facts->launches[device->launch].event;
        device->step = steps_marked_at(facts, facts->trace->begin_ns[event]);
    }
}

// Assigns events to the step whose mark, on a device, covers their start.
static void assign_covered(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->device_count; i++)
        facts->devices[i].step = steps_marked_at(facts, facts->devices[i].begin_ns);
}

// The main stream: the one with most compute time launched inside marks. So a copy or a collective
// that runs ahead or lags on another stream moves no bound.
static bool find_main(struct facts *facts, struct err *err)
{
    size_t size = facts->trace->track_count * sizeof(int64_t);
    int64_t *compute_ns = budget_alloc(facts->budget, size, err), most_ns = 0;
    if (!compute_ns)
        return false;
    memset(compute_ns, 0, size);
    facts->main_track = FACTS_NONE;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->step != FACTS_NONE && device->class == CLASS_COMPUTE)
            compute_ns[device->track] += device->end_ns - device->begin_ns;
    }
    for (uint32_t t = 0; t < facts->trace->track_count; t++) {
        if (compute_ns[t] <= most_ns)
            continue;
        most_ns = compute_ns[t];
        facts->main_track = t;
    }
    budget_free(facts->budget, compute_ns, size);
    return true;
}

// Where each step's events on the main stream start, and where its last compute there ends.
static void measure_steps(struct facts *facts)
{
    for (uint32_t s = 0; s < facts->step_count; s++) {
        facts->steps[s].begin_ns = INT64_MAX;
        facts->steps[s].end_ns = INT64_MIN;
    }
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->step == FACTS_NONE || device->track != facts->main_track)
            continue;
        struct step *step = &facts->steps[device->step];
        if (device->begin_ns < step->begin_ns)
            step->begin_ns = device->begin_ns;
        if (device->class == CLASS_COMPUTE && device->end_ns > step->end_ns)
            step->end_ns = device->end_ns;
    }
}

// Each step lasts from the end of the previous one to the end of its own compute, so that the wait
// for its data belongs to it; the first one starts with its first event.
static void bound_steps(struct facts *facts)
{
    int64_t bound_ns = facts->begin_ns;
    bool first = true;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        struct step *step = &facts->steps[s];
        if (step->end_ns == INT64_MIN) {
            step->begin_ns = step->end_ns = bound_ns;
            step->reason = reason_empty;
            continue;
        }
        step->begin_ns = first ? step->begin_ns : bound_ns;
        first = false;
        if (step->end_ns <= step->begin_ns) {
            step->end_ns = step->begin_ns;
            step->reason = reason_overtaken;
        }
        bound_ns = step->end_ns;
    }
}

static void assign_unlaunched(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->device_count; i++)
        if (facts->devices[i].step == FACTS_NONE)
            facts->devices[i].step = step_at(facts, facts->devices[i].begin_ns);
}

static int64_t dur_of(const struct step *step)
{
    return step->end_ns - step->begin_ns;
}

// Median of the first count values, which it sorts.
static int64_t median_of(int64_t *values, int64_t *scratch, size_t count)
{
    sort_i64(values, scratch, count);
    return stats_median(values, count);
}

// Durations of the usable steps from first on, before end.
static uint32_t list_durations(const struct step *steps, uint32_t first, uint32_t end,
                               int64_t *values)
{
    uint32_t listed = 0;
    for (uint32_t s = first; s < end; s++)
        if (!steps[s].reason)
            values[listed++] = dur_of(&steps[s]);
    return listed;
}

// What durations agree with: the median, and three robust standard deviations around it.
struct usual {
    double median_ns, reach_ns;
};

// Overwrites the values, which have room for 2 * count.
static struct usual find_usual(int64_t *values, uint32_t count)
{
    int64_t median = median_of(values, values + count, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = values[i] > median ? values[i] - median : median - values[i];
    double spread = 1.4826 * (double)median_of(values, values + count, count);
    double least = (double)median / 100;
    return (struct usual){(double)median, 3 * (spread > least ? spread : least)};
}

static bool is_usual(const struct usual *usual, const struct step *step)
{
    double distance = (double)dur_of(step) - usual->median_ns;
    return distance >= -usual->reach_ns && distance <= usual->reach_ns;
}

// Whether leading steps agree with each other far more than with the later ones. Those of a warm-up
// that settles spread so widely that all may be within their reach.
static bool agree(const struct step *steps, uint32_t first, uint32_t end, const struct usual *later,
                  int64_t *values)
{
    struct usual usual = find_usual(values, list_durations(steps, first, end, values));
    double apart_ns = usual.median_ns - later->median_ns;
    for (uint32_t s = first; s < end; s++)
        if (!steps[s].reason && !is_usual(&usual, &steps[s]))
            return false;
    return 2 * usual.reach_ns < (apart_ns < 0 ? -apart_ns : apart_ns);
}

// Drops the leading steps that differ from the later ones. values has room for 2 * count.
static void drop_warmup(struct step *steps, uint32_t count, int64_t *values)
{
    uint32_t first = 0, leading = 0;
    while (first < count && steps[first].reason)
        first++;
    if (first == count)
        return;
    uint32_t begin = first + 1, end = begin, others = list_durations(steps, begin, count, values);
    if (others == 0)
        return; // a single step stays
    steps[first].reason = reason_first;
    struct usual usual = find_usual(values, others);
    for (; leading + 1 < others && (steps[end].reason || !is_usual(&usual, &steps[end])); end++)
        leading += !steps[end].reason;
    bool phase = leading > WARMUP_STEPS && leading > WARMUP_SHARE * (others + 1) &&
                 agree(steps, begin, end, &usual, values);
    for (uint32_t s = begin; s < end; s++)
        if (!steps[s].reason && phase)
            steps[s].early = true;
        else if (!steps[s].reason)
            steps[s].reason = reason_outlier;
}

// Drops the first `warmup` steps as requested, but never the last one that counts.
static void drop_chosen(struct step *steps, uint32_t count, int warmup)
{
    uint32_t left = 0;
    for (uint32_t s = 0; s < count; s++)
        left += !steps[s].reason;
    for (uint32_t s = 0; s < count && (int64_t)s < warmup && left > 1; s++) {
        if (steps[s].reason)
            continue;
        steps[s].reason = reason_chosen;
        left--;
    }
}

bool steps_choose(struct step *steps, uint32_t count, int warmup_steps, struct budget *budget,
                  struct err *err)
{
    size_t size = 2 * (size_t)count * sizeof(int64_t);
    int64_t *values = budget_alloc(budget, size, err);
    if (!values)
        return false;
    if (warmup_steps < 0)
        drop_warmup(steps, count, values);
    else
        drop_chosen(steps, count, warmup_steps);
    budget_free(budget, values, size);
    for (uint32_t s = 0; s < count; s++)
        steps[s].steady = !steps[s].reason;
    return true;
}

// Without marks the whole window is one step.
static bool make_whole(struct facts *facts, struct err *err)
{
    facts->steps = arena_array(facts->arena, 1, sizeof *facts->steps, err);
    if (!facts->steps)
        return false;
    facts->steps[0] = (struct step){
        .mark_begin_ns = INT64_MIN,
        .mark_end_ns = INT64_MAX,
        .begin_ns = facts->begin_ns,
        .end_ns = facts->end_ns,
        .steady = true,
    };
    facts->step_count = facts->steady_count = 1;
    facts->joined_marks = 0;
    facts->marked = false;
    facts->main_track = FACTS_NONE;
    for (uint32_t i = 0; i < facts->device_count; i++)
        facts->devices[i].step = 0;
    return true;
}

static bool fill_steps(struct facts *facts, const struct step_marks *marks, struct err *err)
{
    facts->steps = arena_array(facts->arena, marks->count, sizeof *facts->steps, err);
    if (!facts->steps)
        return false;
    for (uint32_t s = 0; s < marks->count; s++) {
        const struct step_mark *mark = &marks->marks[s];
        str_id name = facts->trace->name[mark->event];
        facts->steps[s] = (struct step){
            .number = step_marks_number(trace_text(facts->trace, name), s),
            .name = name,
            .mark_begin_ns = mark->begin_ns,
            .mark_end_ns = mark->end_ns,
        };
    }
    facts->step_count = marks->count;
    facts->marked = true;
    return true;
}

// How many steps can be used.
static bool make_marked(struct facts *facts, const struct step_marks *marks,
                        void (*assign)(struct facts *facts), uint32_t *usable, struct err *err)
{
    *usable = 0;
    if (!fill_steps(facts, marks, err))
        return false;
    facts->joined_marks = marks->joined;
    assign(facts);
    if (!find_main(facts, err))
        return false;
    measure_steps(facts);
    bound_steps(facts);
    assign_unlaunched(facts);
    for (uint32_t s = 0; s < facts->step_count; s++)
        *usable += !facts->steps[s].reason;
    return true;
}

static bool choose(struct facts *facts, struct err *err)
{
    int warmup = facts->options ? facts->options->warmup_steps : -1;
    if (!steps_choose(facts->steps, facts->step_count, warmup, facts->budget, err))
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++)
        facts->steady_count += facts->steps[s].steady;
    for (uint32_t s = 1; s < facts->step_count; s++)
        assert(facts->steps[s - 1].end_ns <= facts->steps[s].begin_ns &&
               facts->steps[s].begin_ns <= facts->steps[s].end_ns);
    return true;
}

// Whether a mark lasts to the end of the trace because its own end was not recorded.
static bool is_open(const struct trace *trace, int64_t mark_end_ns)
{
    if (!trace->repairs[REPAIR_BEGIN_WITHOUT_END].count)
        return false;
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (facts_event_end(trace, e) > mark_end_ns)
            return false;
    return true;
}

// Leaves out the steps that the recording ends within.
static void leave_out_cut(struct facts *facts, enum mark_source source)
{
    struct step *last = &facts->steps[facts->step_count - 1];
    if (!last->reason && source == MARKS_OPTIMIZER)
        last->reason = reason_unended;
    else if (!last->reason && is_open(facts->trace, last->mark_end_ns))
        last->reason = reason_open;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (facts->steps[s].mark_end_ns > facts->cut_ns)
            facts->steps[s].reason = reason_cut;
}

bool steps_make(struct facts *facts, struct err *err)
{
    struct step_marks marks;
    uint32_t usable;
    if (facts->device_count == 0)
        return true;
    if (!step_marks_find(facts, &marks, err) ||
        !make_marked(facts, &marks, assign_launched, &usable, err))
        return false;
    if (usable == 0 && (!step_marks_find_on_device(facts, &marks, err) ||
                        !make_marked(facts, &marks, assign_covered, &usable, err)))
        return false;
    if (usable == 0)
        return make_whole(facts, err);
    if (usable > 1)
        leave_out_cut(facts, marks.source);
    return (marks.source == MARKS_CHOSEN || evaluation_leave_out(facts, err)) && choose(facts, err);
}

static bool is_of(const struct step *step, enum steady_part part)
{
    return step->steady && (part == STEADY_ALL || step->early == (part == STEADY_EARLY));
}

bool steps_median_ns(const struct facts *facts, enum steady_part part, int64_t *median_ns,
                     struct err *err)
{
    size_t count = 0, size = 2 * (size_t)facts->steady_count * sizeof(int64_t);
    int64_t *values = budget_alloc(facts->budget, size, err);
    if (!values)
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (is_of(&facts->steps[s], part))
            values[count++] = parts_window_ns(&facts->step_parts[s]);
    *median_ns = median_of(values, values + count, count);
    budget_free(facts->budget, values, size);
    return true;
}

uint32_t steps_at(const struct facts *facts, int64_t time_ns)
{
    uint32_t ended = count_upto_i64(FIRST_OF(facts->steps, end_ns), facts->step_count,
                                    sizeof *facts->steps, time_ns);
    bool inside = ended < facts->step_count && facts->steps[ended].begin_ns <= time_ns;
    return inside ? ended : FACTS_NONE;
}
