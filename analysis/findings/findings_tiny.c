// SPDX-License-Identifier: Apache-2.0
// The rule about kernels too short to be worth their launch.
#include "analysis/findings/findings.h"
#include "analysis/trace/short_kernels.h"

#include <stdio.h>

struct tiny {
    const struct finding_case *the_case;
    int64_t owned_ns, wait_ns, calls, short_calls;
    int64_t replayed; // short calls whose launch has several kernels
};

static bool is_short(const struct facts *facts, uint32_t device)
{
    const struct device_event *event = &facts->devices[device];
    return event->class == CLASS_COMPUTE && event->end_ns - event->begin_ns < SHORT_KERNEL_NS;
}

// A short kernel, or the wait directly before one, but no more of it than a launch takes: a longer
// wait has another cause.
static int64_t claim_short(const struct finding_case *the_case, const void *context,
                           const struct atom *atom)
{
    const struct facts *facts = the_case->facts;
    (void)context;
    if (!atom->gap)
        return is_short(facts, atom->device) ? atom->ns : 0;
    bool before = atom->gap->next != FACTS_NONE && is_short(facts, atom->gap->next);
    return before ? findings_wait(atom) : 0;
}

static void add_time(void *context, const struct atom *atom)
{
    struct tiny *tiny = context;
    int64_t ns = claim_short(tiny->the_case, NULL, atom);
    *(atom->gap ? &tiny->wait_ns : &tiny->owned_ns) += ns;
}

static bool are_many(const struct tiny *tiny)
{
    return tiny->short_calls >= FINDING_TINY_CALLS * tiny->the_case->steps &&
           (double)tiny->short_calls >= FINDING_TINY_CALLS_SHARE * (double)tiny->calls;
}

static struct tiny measure_tiny(const struct finding_case *the_case)
{
    const struct facts *facts = the_case->facts;
    struct tiny tiny = {.the_case = the_case};
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->class != CLASS_COMPUTE || !facts_is_steady(facts, i))
            continue;
        tiny.calls++;
        if (!is_short(facts, i))
            continue;
        tiny.short_calls++;
        tiny.replayed += device->launch != FACTS_NONE && facts->launches[device->launch].count > 1;
    }
    if (are_many(&tiny))
        findings_visit(the_case, add_time, &tiny);
    return tiny;
}

static bool check_tiny(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct tiny tiny = measure_tiny(the_case);
    if (!are_many(&tiny))
        return true;
    if (!findings_cost(the_case, finding, claim_short, NULL, err))
        return false;
    int64_t cost_ns = finding->cost_ns;
    *fires = findings_costs(the_case, cost_ns, FINDING_TINY_SHARE);
    if (!*fires)
        return true;
    bool mostly_replayed = tiny.replayed > tiny.short_calls / 2;
    finding->confidence = mostly_replayed                ? "low"
                          : tiny.wait_ns > tiny.owned_ns ? "high"
                                                         : "medium";
    finding->title =
        arena_printf(the_case->arena, err, "%s kernels %s run under 10 us and cost %s (%.1f %%)",
                     count_text(tiny.short_calls / the_case->steps).text, the_case->per,
                     time_text(cost_ns).text, findings_percent(the_case, cost_ns));
    char waits[96] = "";
    if (tiny.wait_ns / the_case->steps > 0)
        snprintf(waits, sizeof waits,
                 ", and the device waits %s directly before them for their launch",
                 time_text(tiny.wait_ns / the_case->steps).text);
    finding->evidence = findings_fact(
        the_case, "short_kernels", err,
        "%.0f %% of the compute kernels are short; they run %s %s%s%s",
        100 * (double)tiny.short_calls / (double)tiny.calls,
        time_text(tiny.owned_ns / the_case->steps).text, the_case->per, waits,
        mostly_replayed ? "; most are replayed by graphs already, where only fusing helps" : "");
    return finding->title && finding->evidence;
}

const struct finding_rule finding_tiny_kernels = {
    .name = "tiny_kernels",
    .why = "A kernel of a few microseconds takes the host as long to launch as the device to run, "
           "and moves data through memory for little work.",
    .advice = "Fuse them: torch.compile, fused optimizers (fused=True), foreach variants; or "
              "replay the step as a CUDA graph so that launches cost almost nothing.",
    .method =
        "Time owned by compute kernels under 10 us plus the waits for the host directly before "
        "them (at most 100 us each: longer waits have another cause), per steady step; reported "
        "when there are 20 per step, half of the compute kernels, costing 5 % of the step.",
    .false_alarms = "Short kernels in a graph replay, which cost no launches.",
    .check = check_tiny,
};
