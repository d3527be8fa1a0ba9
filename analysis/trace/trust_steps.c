// SPDX-License-Identifier: Apache-2.0
// The steps' part of the trust report: how they were found, what they contain, and what they lack.
#include "analysis/trace/trust_steps.h"

#include "analysis/facts/step_marks.h"
#include "analysis/facts/steps.h"
#include "analysis/stats/time_text.h"

#include <inttypes.h>

#define WAIT_WARN_SHARE 0.05 // of the step
#define ALTERNATING_MIN 6    // steady steps
#define ALTERNATING_BY  1.1  // the shortest of the longer ones by the longest of the shorter ones
#define UPDATES_MIN     3    // per step
#define NAMED           4    // annotations, where none matches

// The first names of annotations, "; found a, b and others"; "" without any.
static bool put_names(const struct facts *facts, struct buf *out, struct err *err)
{
    const struct trace *trace = facts->trace;
    str_id named[NAMED];
    int count = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        bool known = trace->kind[e] != EVENT_ANNOTATION;
        for (int i = 0; i < count && !known; i++)
            known = named[i] == trace->name[e];
        if (known)
            continue;
        if (count == NAMED) {
            buf_puts(out, " and others");
            break;
        }
        named[count] = trace->name[e];
        buf_puts(out, count++ ? ", " : "; found ");
        buf_add_str(out, trace_text(trace, trace->name[e]));
    }
    return buf_ok(out, err);
}

// A pattern that matches nothing: often the name of a range that another recording has.
static bool add_missed(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt missed = {
        .item = "step_pattern_missed",
        .severity = "warning",
        .count = 1,
        .effect = "steps are found by other annotations, or the whole recording counts as one",
    };
    struct buf names = {0};
    if (!step_marks_missed(facts))
        return true;
    if (put_names(facts, &names, err))
        missed.detail = arena_printf(
            report->arena, err, "no annotation matches the requested step pattern '%s'%.*s",
            facts->options->step_pattern, (int)names.len, names.len ? names.at : "");
    buf_free(&names);
    return missed.detail && doubt_add(report, &missed, err);
}

static bool add_marks(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt whole = {
        .item = "no_steps",
        .severity = "info",
        .count = 1,
        .detail = facts->linked ? "no step annotations were found around launches of compute"
                                : "steps are found by launches within annotations, and no launch "
                                  "was recorded",
        .effect = "the whole recording counts as one step, warm-up included",
    };
    struct doubt excluded = {
        .item = "steps_excluded",
        .severity = "info",
        .count = facts->step_count - facts->steady_count,
        .detail = "steps left out of the figures per step; each with its reason in steps",
        .effect = "figures per step are based on the others",
    };
    struct doubt joined = {
        .item = "joined_marks",
        .severity = "info",
        .count = facts->joined_marks,
        .detail = "step annotations mostly inside another one, as when two threads annotate the "
                  "same step",
        .effect = "they count as one step with the other",
    };
    if (!add_missed(facts, report, err))
        return false;
    if (joined.count && !doubt_add(report, &joined, err))
        return false;
    if (facts->device_count && !facts->marked)
        return doubt_add(report, &whole, err);
    return !excluded.count || doubt_add(report, &excluded, err);
}

// Time of the window that no step covers.
static bool add_outside(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt outside = {
        .item = "outside_steps",
        .severity = "info",
        .count = 1,
        .timed = true,
        .time_ns = parts_window_ns(&facts->whole),
        .detail = "time of the recording before, between and after the steps",
        .effect = "it counts in figures of the whole trace, but not per step",
    };
    for (uint32_t s = 0; s < facts->step_count; s++)
        outside.time_ns -= parts_window_ns(&facts->step_parts[s]);
    return !facts->marked || outside.time_ns <= 0 || doubt_add(report, &outside, err);
}

// Leading steps that are too many for a warm-up.
static bool add_phases(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt phases = {.item = "step_phases", .severity = "warning", .count = 1};
    int64_t early_ns, late_ns;
    uint32_t leading = 0;
    for (uint32_t s = 0; s < facts->step_count; s++)
        leading = facts->steps[s].early ? s + 1 : leading;
    if (!leading)
        return true;
    if (!steps_median_ns(facts, STEADY_EARLY, &early_ns, err) ||
        !steps_median_ns(facts, STEADY_LATE, &late_ns, err))
        return false;
    phases.detail = arena_printf(report->arena, err,
                                 "the first %" PRIu32 " steps, too many for a warm-up, take %s, "
                                 "the others %s (medians)",
                                 leading, time_text(early_ns).text, time_text(late_ns).text);
    phases.effect = arena_printf(report->arena, err,
                                 "figures per step mix both; choose one kind with "
                                 "step=PATTERN, or the others with warmup=%" PRIu32,
                                 leading);
    return phases.detail && phases.effect && doubt_add(report, &phases, err);
}

static uint32_t first_usable(const struct facts *facts)
{
    uint32_t s = 0;
    while (s < facts->step_count && facts->steps[s].begin_ns == facts->steps[s].end_ns)
        s++;
    return s;
}

// The device's idle time between the mark's begin and the step's first device event.
static int64_t wait_before(const struct facts *facts, const struct step *step)
{
    int64_t from_ns = step->mark_begin_ns;
    uint32_t earlier = facts_devices_before(facts, step->begin_ns);
    for (uint32_t i = 0; i < earlier; i++)
        if (facts->devices[i].end_ns > from_ns)
            from_ns = facts->devices[i].end_ns;
    return step->begin_ns - from_ns;
}

// The first step begins with its first device event. Where it is the only one, no other shows what
// it waited for.
static bool add_first_wait(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt wait = {
        .item = "first_wait",
        .severity = "warning",
        .count = 1,
        .timed = true,
        .effect = "the wait before it, for data or for the host, is in no figure per step; record "
                  "two steps or more",
    };
    uint32_t first = first_usable(facts);
    if (!facts->marked || facts->steady_count != 1 || !facts->steps[first].steady)
        return true;
    const struct step *step = &facts->steps[first];
    wait.time_ns = wait_before(facts, step);
    if ((double)wait.time_ns <= WAIT_WARN_SHARE * (double)(step->end_ns - step->begin_ns))
        return true;
    wait.detail = arena_printf(report->arena, err,
                               "the only step begins with its first device event, after %s of its "
                               "mark without any",
                               time_text(wait.time_ns).text);
    return wait.detail && doubt_add(report, &wait, err);
}

static bool are_of_optimizers(const struct facts *facts)
{
    return facts->marked &&
           str_starts_with(trace_text(facts->trace, facts->steps->name), STR("Optimizer.step#"));
}

// The shortest and the longest of every other steady step: even ones, odd ones.
struct halves {
    int64_t least_ns[2], most_ns[2];
};

static struct halves halve(const struct facts *facts)
{
    struct halves halves = {{INT64_MAX, INT64_MAX}, {0, 0}};
    for (uint32_t s = 0; s < facts->step_count; s++) {
        int64_t dur_ns = facts->steps[s].end_ns - facts->steps[s].begin_ns;
        int64_t *least_ns = &halves.least_ns[s % 2], *most_ns = &halves.most_ns[s % 2];
        if (!facts->steps[s].steady)
            continue;
        *least_ns = dur_ns < *least_ns ? dur_ns : *least_ns;
        *most_ns = dur_ns > *most_ns ? dur_ns : *most_ns;
    }
    return halves;
}

// Optimizers that mark steps may be the two of a GAN.
static bool add_alternating(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt alternating = {
        .item = "alternating_steps",
        .severity = "warning",
        .count = 1,
        .effect = "an iteration may have two optimizers, and a step is then a part of one; "
                  "annotate iterations, and choose them with step=PATTERN",
    };
    struct halves halves = halve(facts);
    int longer = halves.least_ns[1] > halves.least_ns[0];
    int64_t long_ns = halves.least_ns[longer], short_ns = halves.most_ns[!longer];
    if (!are_of_optimizers(facts) || facts->steady_count < ALTERNATING_MIN ||
        !halves.most_ns[longer] || (double)long_ns < ALTERNATING_BY * (double)short_ns)
        return true;
    alternating.detail = arena_printf(report->arena, err,
                                      "every other step takes %s or more, those between up to %s, "
                                      "and optimizers mark them",
                                      time_text(long_ns).text, time_text(short_ns).text);
    return alternating.detail && doubt_add(report, &alternating, err);
}

enum { COMPUTES_ON_MAIN = 1, COMPUTES_BESIDE = 2 };

// Steps whose compute ran on other streams than the main one, which bounds steps.
static bool add_beside(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt beside = {
        .item = "steps_beside",
        .severity = "warning",
        .detail = "steps whose compute ran on another stream than that of the others",
        .effect = "the stream with most compute bounds the steps: the time of these lies in the "
                  "next one, which is too long, or after the last",
    };
    uint8_t *computes = budget_zalloc(facts->budget, facts->step_count, err);
    if (!computes)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->step != FACTS_NONE && device->class == CLASS_COMPUTE)
            computes[device->step] |=
                device->track == facts->main_track ? COMPUTES_ON_MAIN : COMPUTES_BESIDE;
    }
    for (uint32_t s = 0; s < facts->step_count; s++)
        beside.count += computes[s] == COMPUTES_BESIDE;
    budget_free(facts->budget, computes, facts->step_count);
    return !facts->marked || !beside.count || doubt_add(report, &beside, err);
}

// One mark around several iterations, each of which updates the parameters.
static bool add_updates(const struct facts *facts, struct arena *scratch, struct report *report,
                        struct err *err)
{
    struct doubt updates = {
        .item = "updates_in_steps",
        .severity = "info",
        .effect = "if each of them ends an iteration, a step is that many; call prof.step() after "
                  "each",
    };
    struct facts view = *facts;
    struct step_marks marks;
    view.arena = scratch;
    if (!facts->marked || !facts->steady_count || are_of_optimizers(facts))
        return true;
    if (!step_marks_find_updates(&view, &marks, err))
        return false;
    for (uint32_t i = 0; i < marks.count; i++) {
        uint32_t step = steps_marked_at(facts, marks.marks[i].begin_ns);
        updates.count += step != FACTS_NONE && facts->steps[step].steady;
    }
    if (updates.count < (int64_t)UPDATES_MIN * facts->steady_count)
        return true;
    updates.detail = arena_printf(report->arena, err,
                                  "updates by an optimizer within the steps, with compute between "
                                  "them: %s per step",
                                  mean_text((double)updates.count / facts->steady_count, 1).text);
    return updates.detail && doubt_add(report, &updates, err);
}

bool doubts_add_steps(const struct facts *facts, struct arena *scratch, struct report *report,
                      struct err *err)
{
    return add_marks(facts, report, err) && add_phases(facts, report, err) &&
           add_first_wait(facts, report, err) && add_alternating(facts, report, err) &&
           add_beside(facts, report, err) && add_updates(facts, scratch, report, err) &&
           add_outside(facts, report, err);
}
