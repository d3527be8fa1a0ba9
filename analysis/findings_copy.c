// SPDX-License-Identifier: Apache-2.0
// The rule about copies that hold up the host or the device.
#include "analysis/findings.h"
#include "analysis/sweep.h"

#include <inttypes.h>

struct copies {
    const struct facts *facts;
    int64_t count, pageable, to_host, bytes;
    int64_t owned_ns, wait_ns;
    bool behind; // the segment before was such a copy, or the gap behind one
};

// A call that returns only when the copy is done.
static bool is_blocking_call(struct str name)
{
    return str_equal(name, STR("cudaMemcpy")) || str_equal(name, STR("hipMemcpy")) ||
           str_equal(name, STR("cudaMemcpy2D")) || str_equal(name, STR("hipMemcpyWithStream"));
}

static bool names(const struct facts *facts, uint32_t device, struct str part)
{
    struct str name = facts_short_name(facts->trace, facts_device_name(facts, device));
    return str_find(name, part) != SIZE_MAX;
}

static bool is_pageable(const struct facts *facts, uint32_t device)
{
    return names(facts, device, STR("Pageable"));
}

static bool is_to_host(const struct facts *facts, uint32_t device)
{
    return names(facts, device, STR("DtoH")) || names(facts, device, STR("DeviceToHost"));
}

static bool is_blocking(const struct facts *facts, uint32_t device)
{
    const struct device_event *event = &facts->devices[device];
    if (facts->trace->kind[event->event] != EVENT_MEMCPY)
        return false;
    if (is_pageable(facts, device))
        return true;
    if (event->launch == FACTS_NONE)
        return false;
    str_id call = facts->trace->name[facts->launches[event->launch].event];
    return is_blocking_call(trace_text(facts->trace, call));
}

static void add_segment(void *context, const struct segment *segment)
{
    struct copies *copies = context;
    int64_t length_ns = segment->end_ns - segment->begin_ns;
    bool idle = segment->bar >= BAR_DEVICE_COUNT;
    bool copy = !idle && is_blocking(copies->facts, segment->device);
    copies->behind = copy || (idle && copies->behind);
    if (segment->step == FACTS_NONE || !copies->facts->steps[segment->step].steady)
        return;
    copies->owned_ns += copy ? length_ns : 0;
    copies->wait_ns += copies->behind && segment->bar == BAR_IDLE_HOST_WAIT ? length_ns : 0;
}

static struct copies measure(const struct facts *facts)
{
    struct copies copies = {.facts = facts};
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->step == FACTS_NONE || !facts->steps[device->step].steady ||
            !is_blocking(facts, i))
            continue;
        uint32_t args = facts->trace->args[device->event];
        int64_t bytes = facts->trace->shapes[facts->trace->device_args[args].shape].bytes;
        copies.count++;
        copies.pageable += is_pageable(facts, i);
        copies.to_host += is_to_host(facts, i);
        copies.bytes += bytes > 0 && bytes < INT64_MAX / 2 - copies.bytes ? bytes : 0;
    }
    if (copies.count)
        sweep_run(facts, SWEEP_ALL, add_segment, &copies);
    return copies;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct copies copies = measure(the_case->facts);
    int64_t cost_ns = (copies.owned_ns + copies.wait_ns) / the_case->steps;
    *fires = copies.count > 0 && (double)cost_ns >= FINDING_COPY_SHARE * (double)the_case->step_ns;
    if (!*fires)
        return true;
    finding->cost_ns = cost_ns;
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err, "blocking copies cost %s %s (%.1f %%)",
                     time_text(cost_ns).text, the_case->per, findings_percent(the_case, cost_ns));
    char count[32], to_host[32], pageable[32], bytes[32];
    finding->evidence = findings_fact(
        the_case, "kernels?category=copy", err,
        "%s blocking copies %s, %s of them to the host, %s with pageable memory, %s bytes; %s "
        "exposed, %s the device waits behind them for the host",
        findings_per_step(the_case, copies.count, count), the_case->per,
        findings_per_step(the_case, copies.to_host, to_host),
        findings_per_step(the_case, copies.pageable, pageable),
        copies.bytes ? findings_per_step(the_case, copies.bytes, bytes) : "unknown",
        time_text(copies.owned_ns / the_case->steps).text,
        time_text(copies.wait_ns / the_case->steps).text);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_blocking_copies = {
    .name = "blocking_copies",
    .why = "A copy from or to pageable memory goes through a staging buffer and holds up the host "
           "until it is done; so does a synchronous copy. The device then waits for the host.",
    .advice = "Copies to the device: pin_memory=True in the data loader, non_blocking=True in "
              ".to(), the next batch on a stream of its own while this one is computed. Copies to "
              "the host (.item(), .cpu(), printing a loss): fewer of them, or into pinned memory "
              "with non_blocking=True and read a step later.",
    .method = "Exposed time of copies that are pageable or launched by a synchronous call, plus "
              "the waits for the host directly behind them, per steady step; reported from 1 % of "
              "the step.",
    .false_alarms = "A result that is needed on the host at once has to be waited for.",
    .check = check,
};
