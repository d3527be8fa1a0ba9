// SPDX-License-Identifier: Apache-2.0
// What a recording has and lacks, what that shows or would show, and how to record it.
#include "analysis/trace/analyses.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#include <math.h>

#define PRESENT_SHARE 0.9 // of the relevant events; the rest cannot have it, such as work of others

enum recording_item {
    ITEM_DEVICE_EVENTS,
    ITEM_OPERATORS,
    ITEM_LAUNCHES,
    ITEM_STEPS,
    ITEM_REPEATS,
    ITEM_SHAPES,
    ITEM_STACKS,
    ITEM_MODULES,
    ITEM_MEMORY,
    ITEM_COLLECTIVES,
    ITEM_LAUNCH_SHAPES,
    ITEM_OCCUPANCY,
    ITEM_SYNC_EVENTS,
    ITEM_DISTRIBUTED,
    ITEM_DEVICE,
    ITEM_COUNT
};

static const struct {
    const char *item, *shows, *how, *cost;
    const char *silent; // findings that need it, NULL: none
} texts[ITEM_COUNT] = {
    [ITEM_DEVICE_EVENTS] = {"device_events",
                            "kernels and copies: the breakdown, and everything based on it",
                            "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], also on "
                            "ROCm",
                            "540 to 830 bytes of JSON per kernel", "all"},
    [ITEM_OPERATORS] =
        {"operators", "the operator of each kernel, and the host's work",
         "activities=[ProfilerActivity.CPU, ...]",
         "host time per operator; more where operators are small",
         "unfused_attention, unfused_optimizer, gemm_below_roofline, attention_below_roofline"},
    [ITEM_LAUNCHES] =
        {"launches", "launch delays, queues, causes of idle time, steps by launch",
         "ProfilerActivity.CPU; use schedule(wait=.., warmup=..) so that earlier launches finish "
         "before recording starts",
         "included when operators are recorded",
         "starved_data_loading, starved_sync, starved_allocator, launch_bound, no_cuda_graphs"},
    [ITEM_STEPS] = {"steps", "time per step without warm-up, distributions, comparison per step",
                    "pass a schedule and call prof.step() after each iteration, or name your own "
                    "annotation as step=PATTERN when uploading",
                    "nothing", "no_cuda_graphs, periodic_slow_steps, unstable_steps, memory_leak"},
    [ITEM_REPEATS] = {"repeats",
                      "a confidence interval of the step time: five steady steps at least",
                      "schedule(wait=2, warmup=2, active=8, repeat=1)",
                      "file size grows with each step; a few seconds in all are enough",
                      "periodic_slow_steps, unstable_steps"},
    [ITEM_SHAPES] = {"shapes",
                     "FLOPs, bytes, roofline, operators by shape, and shapes that changed",
                     "record_shapes=True",
                     "about 190 bytes of JSON per operator and a little host time",
                     "gemm_below_roofline, attention_below_roofline, gemm_precision, slow_calls"},
    [ITEM_STACKS] = {"stacks", "the Python line behind each launch and idle gap", "with_stack=True",
                     "about 230 bytes per Python call, up to half of the file; slows the host "
                     "down. Record it separately from timing runs",
                     "starved_data_loading, recompute"},
    [ITEM_MODULES] = {"modules",
                      "time by nn.Module, split into forward and backward, and recomputation",
                      "with_stack=True (its frames name the modules); with_modules=True alone "
                      "works for TorchScript only",
                      "as stacks", NULL},
    [ITEM_MEMORY] = {"memory", "memory over time, the peak and its allocations, leaks",
                     "profile_memory=True",
                     "about 280 bytes per allocation and release, and host time for each",
                     "memory_leak, memory_near_capacity, memory_fragmentation, memory_headroom"},
    [ITEM_COLLECTIVES] = {"collectives",
                          "message sizes, process groups and bandwidth of communication",
                          "recorded by default by PyTorch 2.2 or newer with NCCL or RCCL; needs "
                          "ProfilerActivity.CPU",
                          "nothing", "small_messages, slow_link"},
    [ITEM_LAUNCH_SHAPES] =
        {"launch_shapes", "grid and block of kernels",
         "recorded by default with ProfilerActivity.CUDA on CUDA and on recent ROCm", "nothing",
         NULL},
    [ITEM_OCCUPANCY] = {"occupancy", "registers, shared memory and estimated occupancy of kernels",
                        "recorded by default on CUDA; not available on ROCm", "nothing", NULL},
    [ITEM_SYNC_EVENTS] = {"sync_events", "the stream or event that a stream or the host waited for",
                          "experimental_config=torch._C._profiler._ExperimentalConfig("
                          "enable_cuda_sync_events=True), CUDA only",
                          "one event per synchronization", "unexplained_idle"},
    [ITEM_DISTRIBUTED] = {"distributed",
                          "the rank of the trace, the world size and the process groups",
                          "call torch.distributed.init_process_group before the profiler starts",
                          "nothing", "missing_ranks"},
    [ITEM_DEVICE] = {"device",
                     "peak rates for roofline and utilization, and the GPU's name in comparisons",
                     "recorded by default with ProfilerActivity.CUDA", "nothing",
                     "gemm_below_roofline, attention_below_roofline, memory_near_capacity"},
};

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
    row_word(&row, RECORDING_ITEM, texts[item].item);
    row_word(&row, RECORDING_STATE, state_of(item, tally));
    row_f64(&row, RECORDING_COVERAGE, tally->of ? (double)tally->have / (double)tally->of : NAN);
    row_word(&row, RECORDING_SHOWS, texts[item].shows);
    row_word(&row, RECORDING_HOW, texts[item].how);
    row_word(&row, RECORDING_COST, texts[item].cost);
    row_word(&row, RECORDING_SILENT_RULES, texts[item].silent);
    return row_end(&row, report, err);
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct recording recording = {.facts = facts};
    count_all(&recording);
    for (int i = 0; i < ITEM_COUNT; i++)
        if (!is_pointless(&recording, (enum recording_item)i) &&
            !add_row(&recording, (enum recording_item)i, report, err))
            return false;
    return true;
}

const struct analysis recording_analysis = {"recording", run};
