// SPDX-License-Identifier: Apache-2.0
// What a recording has and lacks, what that shows or would show, and how to record it.
#include "analysis/trace/recording_texts.h"

#include "analysis/trace/analyses.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#include <math.h>

#define PRESENT_SHARE 0.9 // of the relevant events; the rest cannot have it, such as work of others

// Relevant events, and those among them that have it.
struct tally {
    uint64_t of, have;
};

struct recording {
    const struct facts *facts;
    struct tally tallies[ITEM_COUNT];
};

static void count(struct recording *recording, enum recording_item item, bool has)
{
    recording->tallies[item].of++;
    recording->tallies[item].have += has;
}

static void count_device(struct recording *recording, uint32_t index)
{
    const struct facts *facts = recording->facts;
    const struct trace *trace = facts->trace;
    const struct device_event *device = &facts->devices[index];
    const struct launch *launch =
        device->launch == FACTS_NONE ? NULL : &facts->launches[device->launch];
    uint32_t index_of_args = trace->args[device->event];
    const struct device_args *args =
        index_of_args == ARGS_NONE ? NULL : &trace->device_args[index_of_args];
    count(recording, ITEM_OPERATORS, launch && launch->op != FACTS_NONE);
    count(recording, ITEM_LAUNCHES, launch != NULL);
    count(recording, ITEM_MODULES, launch && launch->module != 0);
    if (trace->kind[device->event] != EVENT_KERNEL)
        return;
    const struct launch_shape *shape = args ? &trace->shapes[args->shape] : NULL;
    count(recording, ITEM_LAUNCH_SHAPES, shape && shape->grid[0] > 0);
    count(recording, ITEM_OCCUPANCY, shape && shape->occupancy_percent >= 0);
    if (device->class == CLASS_COMMUNICATION)
        count(recording, ITEM_COLLECTIVES, args && args->collective != ARGS_NONE);
}

static void count_launch(struct recording *recording, uint32_t index)
{
    const struct trace *trace = recording->facts->trace;
    const struct launch *launch = &recording->facts->launches[index];
    count(recording, ITEM_STACKS, launch->frame != FACTS_NONE);
    if (launch->op == FACTS_NONE)
        return;
    uint32_t args = trace->args[launch->op];
    count(recording, ITEM_SHAPES, args != ARGS_NONE && trace->op_args[args].inputs != ARGS_NONE);
}

static bool has_kind(const struct trace *trace, enum event_kind kind)
{
    return trace->event_count && memchr(trace->kind, (int)kind, trace->event_count);
}

static void count_events(struct recording *recording)
{
    const struct trace *trace = recording->facts->trace;
    if (recording->facts->device_count == 0)
        count(recording, ITEM_OPERATORS, has_kind(trace, EVENT_CPU_OP));
    count(recording, ITEM_SYNC_EVENTS, has_kind(trace, EVENT_SYNC));
    count(recording, ITEM_MEMORY, trace->memory_args_count > 0);
}

static void count_steps(struct recording *recording)
{
    const struct facts *facts = recording->facts;
    struct tally *steps = &recording->tallies[ITEM_STEPS];
    struct tally *repeats = &recording->tallies[ITEM_REPEATS];
    steps->of = (uint64_t)parts_window_ns(&facts->whole);
    for (uint32_t s = 0; facts->marked && s < facts->step_count; s++)
        steps->have += (uint64_t)parts_window_ns(&facts->step_parts[s]);
    repeats->of = STATS_MIN_INTERVAL;
    uint32_t steady = facts->marked ? facts->steady_count : 0;
    repeats->have = steady < STATS_MIN_INTERVAL ? steady : STATS_MIN_INTERVAL;
}

static void count_all(struct recording *recording)
{
    const struct facts *facts = recording->facts;
    for (uint32_t i = 0; i < facts->device_count; i++)
        count_device(recording, i);
    for (uint32_t l = 0; l < facts->launch_count; l++)
        count_launch(recording, l);
    count_events(recording);
    count_steps(recording);
    count(recording, ITEM_DEVICE_EVENTS, facts->device_count > 0);
    count(recording, ITEM_DISTRIBUTED, facts->identity.rank >= 0);
    count(recording, ITEM_DEVICE, facts->identity.gpu.len > 0);
}

// Some events with stacks or modules can have none, such as what the backward launches from its own
// thread: any is enough. Steps leave out what is between them.
static bool any_is_enough(enum recording_item item)
{
    return item == ITEM_STACKS || item == ITEM_MODULES || item == ITEM_STEPS;
}

static const char *state_of(enum recording_item item, const struct tally *tally)
{
    if (tally->have == 0)
        return "missing";
    bool most = (double)tally->have >= PRESENT_SHARE * (double)tally->of;
    return most || any_is_enough(item) ? "present" : "partial";
}

// A trace of a single rank without communication misses nothing without these.
static bool is_pointless(const struct recording *recording, enum recording_item item)
{
    bool alone = recording->tallies[ITEM_COLLECTIVES].of == 0;
    bool knows_rank = recording->tallies[ITEM_DISTRIBUTED].have > 0;
    return (item == ITEM_COLLECTIVES && alone) ||
           (item == ITEM_DISTRIBUTED && alone && !knows_rank);
}

static bool add_row(const struct recording *recording, enum recording_item item,
                    struct report *report, struct err *err)
{
    const struct tally *tally = &recording->tallies[item];
    struct row row = {.desc = &table_recording};
    const struct recording_text *text = &recording_texts[item];
    enum trace_recorder recorder = (enum trace_recorder)recording->facts->trace->job.recorder;
    row_word(&row, RECORDING_ITEM, text->item);
    row_word(&row, RECORDING_STATE, state_of(item, tally));
    row_f64(&row, RECORDING_COVERAGE, tally->of ? (double)tally->have / (double)tally->of : NAN);
    row_word(&row, RECORDING_SHOWS, text->shows);
    row_word(&row, RECORDING_HOW, text->how[recorder]);
    if (recorder == RECORDER_PYTORCH)
        row_word(&row, RECORDING_COST, text->cost);
    row_word(&row, RECORDING_SILENT_RULES, text->silent);
    return row_end(&row, report, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    struct recording recording = {.facts = facts};
    count_all(&recording);
    for (int i = 0; i < ITEM_COUNT; i++)
        if (!is_pointless(&recording, (enum recording_item)i) &&
            !add_row(&recording, (enum recording_item)i, report, err))
            return false;
    return true;
}

const struct analysis recording_analysis = {"recording", run};
