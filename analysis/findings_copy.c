// SPDX-License-Identifier: Apache-2.0
// The rule about copies that hold up the host or the device.
#include "analysis/copy_kind.h"
#include "analysis/findings.h"
#include "analysis/sweep.h"

#include <inttypes.h>

struct copies {
    const struct facts *facts;
    struct copy_names names;
    int64_t count, pageable, to_host, bytes;
    int64_t owned_ns, wait_ns;
    bool behind;  // the segment before was such a copy, or the gap behind one
    uint32_t gap; // of facts.gaps, the next that the sweep may be in
    bool *waits;  // per gap: it stands behind such a copy
};

// Whether a device event is a copy that goes through a staging buffer or that its call waits for.
static bool blocks(const struct copies *copies, uint32_t device, struct copy_kind *kind)
{
    if (copies->facts->devices[device].class != CLASS_MEMORY)
        return false;
    *kind = copy_kind_of(&copies->names, device);
    return kind->direction != COPY_MEMSET &&
           (kind->host == COPY_HOST_PAGEABLE || kind->wait == COPY_WAIT_YES);
}

// Marks the gap that a segment of idle time lies in.
static void mark_gap(struct copies *copies, const struct segment *segment)
{
    const struct gap_list *gaps = &copies->facts->gaps;
    while (copies->gap < gaps->count && gaps->gaps[copies->gap].end_ns <= segment->begin_ns)
        copies->gap++;
    if (copies->gap < gaps->count)
        copies->waits[copies->gap] = true;
}

static void add_segment(void *context, const struct segment *segment)
{
    struct copies *copies = context;
    int64_t length_ns = segment->end_ns - segment->begin_ns;
    bool idle = segment->bar >= BAR_DEVICE_COUNT;
    struct copy_kind kind;
    bool copy = !idle && blocks(copies, segment->device, &kind);
    copies->behind = copy || (idle && copies->behind);
    if (segment->step == FACTS_NONE || !copies->facts->steps[segment->step].steady)
        return;
    copies->owned_ns += copy ? length_ns : 0;
    if (!copies->behind || segment->bar != BAR_IDLE_HOST_WAIT)
        return;
    copies->wait_ns += length_ns;
    mark_gap(copies, segment);
}

static int64_t claim_copy(const struct finding_case *the_case, const void *context,
                          const struct atom *atom)
{
    const struct copies *copies = context;
    struct copy_kind kind;
    bool mine = atom->gap ? copies->waits[atom->gap - the_case->facts->gaps.gaps]
                          : blocks(copies, atom->device, &kind);
    return mine ? atom->ns : 0;
}

// Even if the device waited for nothing but such copies.
static bool may_fire(const struct finding_case *the_case, int64_t owned_ns)
{
    int64_t wait_ns = the_case->facts->steady.bar_ns[BAR_IDLE_HOST_WAIT];
    return findings_costs(the_case, (owned_ns + wait_ns) / the_case->steps, FINDING_COPY_SHARE);
}

static bool measure(const struct finding_case *the_case, struct copies *copies, struct err *err)
{
    const struct facts *facts = the_case->facts;
    *copies = (struct copies){.facts = facts};
    copies->waits =
        arena_array(the_case->arena, (size_t)facts->gaps.count + 1, sizeof *copies->waits, err);
    if (!copies->waits || !copy_names_make(facts, the_case->arena, &copies->names, err))
        return false;
    const uint32_t *first = facts->class_first + CLASS_MEMORY;
    int64_t owned_ns = 0;
    for (uint32_t at = first[0]; at < first[1]; at++) {
        uint32_t i = facts->class_devices[at];
        struct copy_kind kind;
        if (!blocks(copies, i, &kind))
            continue;
        owned_ns += facts->steady_owned_ns[i];
        if (!findings_is_steady(facts, i))
            continue;
        copies->count++;
        copies->pageable += kind.host == COPY_HOST_PAGEABLE;
        copies->to_host += kind.direction == COPY_DTOH;
        copies->bytes +=
            kind.bytes > 0 && kind.bytes < INT64_MAX / 2 - copies->bytes ? kind.bytes : 0;
    }
    if (copies->count && may_fire(the_case, owned_ns))
        sweep_run(facts, SWEEP_ALL, add_segment, copies);
    return true;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct copies *copies = arena_array(the_case->arena, 1, sizeof *copies, err);
    if (!copies || !measure(the_case, copies, err))
        return false;
    int64_t cost_ns = (copies->owned_ns + copies->wait_ns) / the_case->steps;
    *fires = copies->count > 0 && findings_costs(the_case, cost_ns, FINDING_COPY_SHARE);
    if (!*fires)
        return true;
    finding->cost_ns = cost_ns;
    finding->claim = claim_copy;
    finding->context = copies;
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err, "blocking copies cost %s %s (%.1f %%)",
                     time_text(cost_ns).text, the_case->per, findings_percent(the_case, cost_ns));
    char count[32], to_host[32], pageable[32], bytes[32];
    finding->evidence = findings_fact(
        the_case, "kernels?category=copy", err,
        "blocking copies %s: %s, to the host: %s, with pageable memory: %s, bytes: %s; %s "
        "exposed, %s the device waits behind them for the host",
        the_case->per, findings_per_step(the_case, copies->count, count),
        findings_per_step(the_case, copies->to_host, to_host),
        findings_per_step(the_case, copies->pageable, pageable),
        copies->bytes ? findings_per_step(the_case, copies->bytes, bytes) : "unknown",
        time_text(copies->owned_ns / the_case->steps).text,
        time_text(copies->wait_ns / the_case->steps).text);
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
    .method = "Exposed time of copies that are pageable or whose call waits for them, plus "
              "the waits for the host directly behind them, per steady step; reported from 1 % of "
              "the step.",
    .false_alarms = "A result that is needed on the host at once has to be waited for.",
    .check = check,
};
