// SPDX-License-Identifier: Apache-2.0
// Rules about steps that take longer than most: at regular intervals, or now and then.
#include "analysis/findings/findings.h"
#include "analysis/facts/steps.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

// The steady steps: how long each usually takes, and which are slow.
struct slow_steps {
    const struct facts *facts;
    int64_t median_ns, p95_ns, limit_ns; // slow: longer than the limit
    int64_t usual_ns[BAR_COUNT];         // median of each part over the other steps
    int64_t excess_ns;                   // of all slow steps above the median
    uint32_t *slow;                      // indices into facts.steps, ascending
    uint32_t count;
    uint32_t spacing;            // of slow steps among steady ones, 0 if it differs
    double *factors;             // per step and bar: share of the part above the usual
    double events, usual_events; // device events of a slow step, of another one
    bool updates;                // the slow steps are those with an optimizer
};

// Without unrecorded time and one-off events.
static int64_t step_ns(const struct facts *facts, uint32_t step)
{
    const struct parts *parts = &facts->step_parts[step];
    return parts_recorded_ns(parts) - parts->idle_ns[IDLE_COLD_START];
}

static bool is_slow(const struct slow_steps *all, uint32_t step)
{
    return all->facts->steps[step].steady && step_ns(all->facts, step) > all->limit_ns;
}

// values has room for twice the steady steps.
static void find_limit(struct slow_steps *all, int64_t *values)
{
    const struct facts *facts = all->facts;
    size_t count = 0;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (facts->steps[s].steady)
            values[count++] = step_ns(facts, s);
    sort_i64(values, values + count, count);
    all->median_ns = stats_median(values, count);
    all->p95_ns = stats_percentile(values, count, 95);
    for (size_t i = 0; i < count; i++)
        values[i] =
            values[i] > all->median_ns ? values[i] - all->median_ns : all->median_ns - values[i];
    sort_i64(values, values + count, count);
    double spread_ns = FINDING_SLOW_STEP_MADS * 1.4826 * (double)stats_median(values, count);
    double least_ns = FINDING_SLOW_STEP_SHARE * (double)all->median_ns;
    all->limit_ns = all->median_ns + (int64_t)(spread_ns > least_ns ? spread_ns : least_ns);
}

static int64_t bar_ns(const struct parts *parts, int bar)
{
    return parts->bar_ns[bar] - (bar == BAR_IDLE_OTHER ? parts->idle_ns[IDLE_COLD_START] : 0);
}

static void find_usual(struct slow_steps *all, int64_t *values)
{
    const struct facts *facts = all->facts;
    for (int bar = 0; bar < BAR_COUNT; bar++) {
        size_t count = 0;
        for (uint32_t s = 0; s < facts->step_count; s++)
            if (facts->steps[s].steady && !is_slow(all, s))
                values[count++] = bar_ns(&facts->step_parts[s], bar);
        sort_i64(values, values + count, count);
        all->usual_ns[bar] = stats_median(values, count);
    }
}

// The extra time of a slow step is distributed over the parts that grew, in proportion.
static void set_factors(struct slow_steps *all, uint32_t step)
{
    const struct parts *parts = &all->facts->step_parts[step];
    double grown_ns = 0, excess_ns = (double)(step_ns(all->facts, step) - all->median_ns);
    for (int bar = 0; bar < BAR_COUNT; bar++)
        if (bar != BAR_UNRECORDED && bar_ns(parts, bar) > all->usual_ns[bar])
            grown_ns += (double)(bar_ns(parts, bar) - all->usual_ns[bar]);
    for (int bar = 0; bar < BAR_COUNT; bar++) {
        int64_t more_ns = bar_ns(parts, bar) - all->usual_ns[bar];
        if (bar != BAR_UNRECORDED && more_ns > 0)
            all->factors[step * BAR_COUNT + (uint32_t)bar] =
                (double)more_ns / (double)bar_ns(parts, bar) * excess_ns / grown_ns;
    }
}

// Slow steps are counted among the steady ones, whatever their numbers.
static void find_slow(struct slow_steps *all)
{
    const struct facts *facts = all->facts;
    uint32_t ordinal = 0, last = 0;
    bool even = true;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        ordinal += facts->steps[s].steady;
        if (!is_slow(all, s))
            continue;
        if (all->count == 1)
            all->spacing = ordinal - last;
        even &= all->count < 2 || ordinal - last == all->spacing;
        last = ordinal;
        all->slow[all->count++] = s;
        all->excess_ns += step_ns(facts, s) - all->median_ns;
        set_factors(all, s);
    }
    if (!even || all->count < FINDING_PERIODIC_STEPS || all->spacing < 2)
        all->spacing = 0;
}

static void count_events(struct slow_steps *all, const struct finding_case *the_case)
{
    const struct facts *facts = all->facts;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        uint32_t step = facts->devices[i].step;
        if (facts_is_steady(facts, i))
            *(is_slow(all, step) ? &all->events : &all->usual_events) += 1;
    }
    all->events /= all->count ? all->count : 1;
    all->usual_events /= (double)(the_case->steps - all->count);
}

// With gradient accumulation each step is a micro-batch, and some update the parameters.
static bool find_updates(struct slow_steps *all, struct arena *arena, struct err *err)
{
    const struct facts *facts = all->facts;
    const struct trace *trace = facts->trace;
    bool *updates = arena_array(arena, facts->step_count, sizeof *updates, err);
    if (!updates)
        return false;
    for (uint32_t e = 0; all->count && e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_ANNOTATION ||
            !str_starts_with(trace_text(trace, trace->name[e]), STR("Optimizer.step#")))
            continue;
        uint32_t step = steps_marked_at(facts, trace->begin_ns[e]);
        if (step != FACTS_NONE)
            updates[step] = true;
    }
    all->updates = all->count > 0;
    for (uint32_t s = 0; s < facts->step_count; s++)
        all->updates &= !facts->steps[s].steady || updates[s] == is_slow(all, s);
    return true;
}

static bool measure(const struct finding_case *the_case, struct slow_steps **measured,
                    struct err *err)
{
    const struct facts *facts = the_case->facts;
    struct arena *arena = the_case->arena;
    struct slow_steps *all = *measured = arena_array(arena, 1, sizeof *all, err);
    int64_t *values = arena_array(arena, 2 * (size_t)facts->step_count, sizeof *values, err);
    if (!all || !values)
        return false;
    all->facts = facts;
    all->slow = arena_array(arena, facts->step_count, sizeof *all->slow, err);
    all->factors =
        arena_array(arena, (size_t)facts->step_count * BAR_COUNT, sizeof *all->factors, err);
    if (!all->slow || !all->factors)
        return false;
    find_limit(all, values);
    find_usual(all, values);
    find_slow(all);
    count_events(all, the_case);
    return find_updates(all, arena, err);
}

// The step in which an atom started, FACTS_NONE outside all steps.
static uint32_t step_of(const struct facts *facts, const struct atom *atom)
{
    int64_t begin_ns = atom->gap ? atom->gap->begin_ns : facts->devices[atom->device].begin_ns;
    return steps_at(facts, begin_ns);
}

static int64_t claim_excess(const struct finding_case *the_case, const void *context,
                            const struct atom *atom)
{
    const struct slow_steps *all = context;
    const struct facts *facts = the_case->facts;
    uint32_t step = step_of(facts, atom);
    if (step == FACTS_NONE || (atom->gap && atom->gap->cause == IDLE_COLD_START))
        return 0;
    uint32_t bar = atom->gap ? (uint32_t)idle_cause_bar((enum idle_cause)atom->gap->cause)
                             : facts->devices[atom->device].bar;
    return (int64_t)((double)atom->ns * all->factors[step * BAR_COUNT + bar]);
}

// Which part grew most in the slow steps.
static enum bar grown_most(const struct slow_steps *all, int64_t *most_ns)
{
    enum bar most = BAR_GEMM;
    *most_ns = 0;
    for (int bar = 0; bar < BAR_COUNT; bar++) {
        int64_t grown_ns = 0;
        for (uint32_t i = 0; i < all->count; i++)
            grown_ns += bar_ns(&all->facts->step_parts[all->slow[i]], bar) - all->usual_ns[bar];
        if (bar == BAR_UNRECORDED || grown_ns <= *most_ns)
            continue;
        *most_ns = grown_ns;
        most = (enum bar)bar;
    }
    return most;
}

// The cause of most idle time of that bar in the slow steps.
static enum idle_cause main_cause(const struct slow_steps *all, enum bar bar)
{
    enum idle_cause most = IDLE_UNKNOWN;
    int64_t most_ns = 0;
    for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
        int64_t idle_ns = 0;
        if (cause == IDLE_COLD_START || idle_cause_bar((enum idle_cause)cause) != bar)
            continue;
        for (uint32_t i = 0; i < all->count; i++)
            idle_ns += all->facts->step_parts[all->slow[i]].idle_ns[cause];
        if (idle_ns <= most_ns)
            continue;
        most_ns = idle_ns;
        most = (enum idle_cause)cause;
    }
    return most;
}

static const char *list_steps(const struct finding_case *the_case, const struct slow_steps *all,
                              struct err *err)
{
    int64_t *numbers = arena_array(the_case->arena, all->count, sizeof *numbers, err);
    for (uint32_t i = 0; numbers && i < all->count; i++)
        numbers[i] = all->facts->steps[all->slow[i]].number;
    return numbers ? number_list(numbers, all->count, the_case->arena, err) : NULL;
}

// "other compute", "idle time (data loading)".
static const char *name_part(const struct finding_case *the_case, enum bar bar,
                             enum idle_cause cause, struct err *err)
{
    bool idle = bar == BAR_IDLE_HOST_WAIT || bar == BAR_IDLE_OTHER;
    char *name = idle ? arena_printf(the_case->arena, err, "idle time (%s)", idle_cause_word(cause))
                      : arena_printf(the_case->arena, err, "%s", category_bar_word(bar));
    for (char *at = name; at && *at; at++)
        *at = *at == '_' ? ' ' : *at;
    return name;
}

#define PROFILER_WAITS                                                                           \
    "The profiler itself holds up the device in these steps. Judge the others, or record less: " \
    "fewer steps, without shapes, stacks and memory."

#define MORE_WORK                                                                                 \
    "The timeline shows what these steps do that the others do not. Run evaluations less often, " \
    "on fewer batches or in a separate job, write checkpoints asynchronously; to judge the "      \
    "training steps alone, record between them."

static bool describe(const struct finding_case *the_case, const struct slow_steps *all,
                     struct finding *finding, struct err *err)
{
    int64_t most_ns;
    enum bar bar = grown_most(all, &most_ns);
    enum idle_cause cause = main_cause(all, bar);
    const char *part = name_part(the_case, bar, cause, err);
    struct evidence evidence = {0};
    finding->claim = claim_excess;
    finding->context = all;
    finding->steps = list_steps(the_case, all, err);
    if (!finding->steps || !part)
        return false;
    evidence_add(&evidence, "steps", "median %s, 95th percentile %s; slow: %s",
                 time_text(all->median_ns).text, time_text(all->p95_ns).text, finding->steps);
    evidence_add(&evidence, "steps", "in slow steps %s grew most, by %s of %s each", part,
                 time_text(most_ns / all->count).text, time_text(all->excess_ns / all->count).text);
    if (bar == BAR_IDLE_OTHER && cause == IDLE_PROFILER) {
        finding->advice = PROFILER_WAITS;
        finding->gain = FINDING_GAIN_UNKNOWN;
    }
    if (all->events >= FINDING_MORE_WORK * all->usual_events) {
        evidence_add(&evidence, "steps",
                     "they run %s device events each, the others %s: more work, such as an "
                     "evaluation, not slower work",
                     mean_text(all->events, 0).text, mean_text(all->usual_events, 0).text);
        finding->advice = MORE_WORK;
        finding->gain = FINDING_GAIN_UNKNOWN; // the host's part of that work would go, too
    }
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->evidence;
}

static double mean_percent(const struct finding_case *the_case, const struct finding *finding)
{
    return 100 * (double)finding->cost_ns / (double)the_case->mean_ns;
}

static const char *ordinal_end(uint32_t number)
{
    bool teen = number / 10 % 10 == 1;
    switch (teen ? 0 : number % 10) {
    case 1: return "st";
    case 2: return "nd";
    case 3: return "rd";
    default: return "th";
    }
}

static bool check_periodic(const struct finding_case *the_case, bool *fires,
                           struct finding *finding, struct err *err)
{
    struct slow_steps *all;
    if (the_case->steps < FINDING_UNSTABLE_STEPS)
        return true;
    if (!measure(the_case, &all, err))
        return false;
    finding->cost_ns = all->excess_ns / the_case->steps;
    finding->of_all = true;
    *fires = all->spacing && !all->updates &&
             findings_costs(the_case, finding->cost_ns, FINDING_SLOW_STEPS_SHARE);
    if (!*fires)
        return true;
    finding->confidence = all->count > FINDING_PERIODIC_STEPS ? "high" : "medium";
    finding->title = arena_printf(
        the_case->arena, err,
        "every %u%s step takes %s longer: %s per step on average (%.1f %% of the mean step)",
        all->spacing, ordinal_end(all->spacing), time_text(all->excess_ns / all->count).text,
        time_text(finding->cost_ns).text, mean_percent(the_case, finding));
    return finding->title && describe(the_case, all, finding, err);
}

const struct finding_rule finding_periodic_steps = {
    .name = "periodic_slow_steps",
    .why = "Periodic work delays the job: logging, evaluation, checkpoints, garbage collection, "
           "refilling data buffers.",
    .advice = "Check what the host does in the slow steps: write checkpoints asynchronously, log "
              "less often and without .item(), collect garbage manually (gc.disable() and "
              "gc.collect() at a suitable time), prefetch more data.",
    .method = "Slow steps are longer than the median of the steady steps by 8 % and by 3 x 1.4826 "
              "median absolute deviations; here 3 or more are evenly spaced. Cost: their time "
              "beyond the median, spread over all steady steps; reported from 1 % of the step. "
              "Where the slow ones run 1.3 times the device events of the others, they have more "
              "work. Silent where the slow ones are those with an optimizer, as with gradient "
              "accumulation.",
    .false_alarms = "Work that is due every few steps, such as an update of parameters by an "
                    "optimizer that is not recorded.",
    .check = check_periodic,
};

static bool check_unstable(const struct finding_case *the_case, bool *fires,
                           struct finding *finding, struct err *err)
{
    struct slow_steps *all;
    if (the_case->steps < FINDING_UNSTABLE_STEPS)
        return true;
    if (!measure(the_case, &all, err))
        return false;
    double ratio = (double)all->p95_ns / (double)(all->median_ns ? all->median_ns : 1);
    finding->cost_ns = all->excess_ns / the_case->steps;
    finding->of_all = true;
    *fires = all->count > 0 && !all->spacing && !all->updates && finding->cost_ns > 0 &&
             (ratio >= FINDING_UNSTABLE_RATIO ||
              findings_costs(the_case, finding->cost_ns, FINDING_SLOW_STEPS_SHARE));
    if (!*fires)
        return true;
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err,
                     "%s of %s steps are slow: %s per step on average (%.1f %% of the mean step); "
                     "p95 / median is %.2f",
                     count_text(all->count).text, count_text(the_case->steps).text,
                     time_text(finding->cost_ns).text, mean_percent(the_case, finding), ratio);
    return finding->title && describe(the_case, all, finding, err);
}

const struct finding_rule finding_unstable_steps = {
    .name = "unstable_steps",
    .why = "Some steps take much longer than the others; in a job of many ranks all wait for the "
           "slowest, so rare events become common.",
    .advice = "Check the slow steps in the timeline: late data, garbage collection, allocation, "
              "other jobs on the node, dropping clocks.",
    .method =
        "Slow steps are longer than the median of the steady steps by 8 % and by 3 x 1.4826 median "
        "absolute deviations. Cost: their time beyond the median, spread over all steady steps; "
        "reported when the 95th percentile is 1.1 times the median or they cost 1 % of the step. "
        "Where the slow ones run 1.3 times the device events of the others, they have more work. "
        "Silent where the slow ones are those with an optimizer, as with gradient accumulation.",
    .false_alarms = "Inputs of varying lengths, and recordings of few steps.",
    .check = check_unstable,
};
