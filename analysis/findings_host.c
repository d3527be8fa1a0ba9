// SPDX-License-Identifier: Apache-2.0
// Rules about a device that waits for the host.
#include "analysis/findings.h"
#include "analysis/short_kernels.h"
#include "analysis/sweep.h"

#include <inttypes.h>

static bool check_starved(const struct finding_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    int64_t cost_ns = the_case->facts->steady.bar_ns[BAR_IDLE_HOST_WAIT] / the_case->steps;
    *fires = (double)cost_ns >= FINDING_STARVED_SHARE * (double)the_case->step_ns;
    if (!*fires)
        return true;
    double percent = findings_percent(the_case, cost_ns);
    finding->cost_ns = cost_ns;
    finding->confidence = "high";
    finding->title = arena_printf(the_case->arena, err,
                                  "the device waits %.3g ms of each step for the host (%.1f %%)",
                                  findings_ms(cost_ns), percent);
    finding->evidence = findings_fact(the_case, "steps?sort=-idle_host_wait_ns", err,
                                      "idle %.3g ms per step before events that had not been "
                                      "launched when the device ran out of work",
                                      findings_ms(cost_ns));
    return finding->title && finding->evidence;
}

const struct finding_rule finding_gpu_starved = {
    .name = "gpu_starved",
    .why = "The device had nothing to do because the host had not yet launched the next kernel: "
           "it was loading data, waiting in a synchronizing call, or busy in Python.",
    .advice = "Look at what the host does at the begin of the longest gaps: more data loader "
              "workers and pinned memory, fewer .item() and .cpu() calls, CUDA graphs or "
              "torch.compile where launching itself is the limit.",
    .method = "Sum of the gaps with no device event whose next event's launch returned after the "
              "gap began, per steady step; reported from 5 % of the step.",
    .false_alarms = "A profiler with stacks or shapes slows the host down and widens the gaps.",
    .check = check_starved,
};

struct tiny {
    const struct facts *facts;
    int64_t owned_ns, wait_ns, calls, short_calls;
    int64_t replayed; // short calls whose launch owns several kernels
};

static bool is_short(const struct facts *facts, uint32_t device)
{
    const struct device_event *event = &facts->devices[device];
    return event->class == CLASS_COMPUTE && event->end_ns - event->begin_ns < SHORT_KERNEL_NS;
}

static void add_tiny(void *context, const struct segment *segment)
{
    struct tiny *tiny = context;
    if (segment->step == FACTS_NONE || !tiny->facts->steps[segment->step].steady ||
        segment->device == FACTS_NONE || !is_short(tiny->facts, segment->device))
        return;
    int64_t length_ns = segment->end_ns - segment->begin_ns;
    if (segment->bar < BAR_DEVICE_COUNT)
        tiny->owned_ns += length_ns;
    else if (segment->bar == BAR_IDLE_HOST_WAIT)
        tiny->wait_ns += length_ns;
}

static bool are_many(const struct tiny *tiny)
{
    return tiny->short_calls > 0 &&
           (double)tiny->short_calls >= FINDING_TINY_CALLS_SHARE * (double)tiny->calls;
}

static struct tiny measure_tiny(const struct facts *facts)
{
    struct tiny tiny = {.facts = facts};
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->class != CLASS_COMPUTE || device->step == FACTS_NONE ||
            !facts->steps[device->step].steady)
            continue;
        tiny.calls++;
        if (!is_short(facts, i))
            continue;
        tiny.short_calls++;
        tiny.replayed += device->launch != FACTS_NONE && facts->launches[device->launch].count > 1;
    }
    if (are_many(&tiny))
        sweep_run(facts, NULL, facts->device_count, add_tiny, &tiny);
    return tiny;
}

static bool check_tiny(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct tiny tiny = measure_tiny(the_case->facts);
    int64_t cost_ns = (tiny.owned_ns + tiny.wait_ns) / the_case->steps;
    *fires = are_many(&tiny) && (double)cost_ns >= FINDING_TINY_SHARE * (double)the_case->step_ns;
    if (!*fires)
        return true;
    finding->cost_ns = cost_ns;
    bool mostly_replayed = tiny.replayed > tiny.short_calls / 2;
    finding->confidence = mostly_replayed                ? "low"
                          : tiny.wait_ns > tiny.owned_ns ? "high"
                                                         : "medium";
    finding->title = arena_printf(the_case->arena, err,
                                  "%" PRId64 " kernels per step run under 10 us and cost %.3g ms",
                                  tiny.short_calls / the_case->steps, findings_ms(cost_ns));
    finding->evidence = findings_fact(
        the_case, "short_kernels", err,
        "%.0f %% of the compute kernels are short; %.3g ms run, %.3g ms waited for "
        "per step%s",
        100 * (double)tiny.short_calls / (double)tiny.calls,
        findings_ms(tiny.owned_ns / the_case->steps), findings_ms(tiny.wait_ns / the_case->steps),
        mostly_replayed ? "; most are replayed by graphs already, where only fusing helps" : "");
    return finding->title && finding->evidence;
}

const struct finding_rule finding_tiny_kernels = {
    .name = "tiny_kernels",
    .why = "A kernel of a few microseconds costs the host as much to launch as the device to run, "
           "and moves its data to memory and back for little work.",
    .advice = "Fuse them: torch.compile, fused optimizers (fused=True), foreach variants; or "
              "replay the step as a CUDA graph so that launching costs nothing.",
    .method = "Time owned by compute kernels under 10 us plus the waits for the host directly "
              "before them, per steady step; reported when they are at least half of the compute "
              "kernels and cost 5 % of the step.",
    .false_alarms = "Inside a graph replay short kernels cost no launches.",
    .check = check_tiny,
};
