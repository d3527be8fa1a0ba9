// SPDX-License-Identifier: Apache-2.0
// Walks steps and allocations together, then fits a line through the minima.
#include "analysis/memory/memory_leak.h"

#include "analysis/stats/leak.h"

struct minima {
    int64_t step[THEIL_SEN_MAX_POINTS]; // index of the step, so that skipped steps count
    int64_t bytes[THEIL_SEN_MAX_POINTS];
    uint32_t count;
};

// Position among the steady steps of the k-th that counts.
static uint32_t chosen(uint32_t k, uint32_t steady)
{
    if (steady <= THEIL_SEN_MAX_POINTS)
        return k;
    return (uint32_t)((uint64_t)k * (steady - 1) / (THEIL_SEN_MAX_POINTS - 1));
}

// The lowest level between a step's bounds; *at moves past the step.
static int64_t least_of(const struct facts *facts, const struct memory_curve *curve,
                        const struct step *step, uint32_t *at)
{
    const struct trace *trace = facts->trace;
    while (*at < curve->count && memory_curve_time(trace, curve, *at) <= step->mark_begin_ns)
        ++*at;
    int64_t least = *at ? curve->allocated[*at - 1] : curve->begin_bytes;
    for (; *at < curve->count && memory_curve_time(trace, curve, *at) < step->mark_end_ns; ++*at)
        if (curve->allocated[*at] < least)
            least = curve->allocated[*at];
    return least;
}

static void find_minima(const struct facts *facts, const struct memory_curve *curve,
                        struct minima *minima)
{
    uint32_t at = 0, seen = 0;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        if (!facts->steps[s].steady)
            continue;
        if (minima->count < THEIL_SEN_MAX_POINTS &&
            seen++ == chosen(minima->count, facts->steady_count)) {
            minima->step[minima->count] = s;
            minima->bytes[minima->count++] = least_of(facts, curve, &facts->steps[s], &at);
        }
    }
}

bool memory_leak_make(const struct facts *facts, const struct memory_curve *curve,
                      struct memory_leak *leak, struct err *err)
{
    *leak = (struct memory_leak){.note = "no steps are annotated, so leaks cannot be detected"};
    struct minima minima = {.count = 0};
    if (facts->marked)
        find_minima(facts, curve, &minima);
    if (!theil_sen_make(minima.step, minima.bytes, minima.count, facts->budget, &leak->line, err))
        return false;
    leak->steps = minima.count;
    if (minima.count >= 2)
        leak->growth_bytes = minima.bytes[minima.count - 1] - minima.bytes[0];
    leak->known = leak->line.interval;
    leak->leaks = leak->known && leak->line.low > 0 && leak->growth_bytes > LEAK_BYTES;
    if (leak->known)
        leak->note = NULL;
    else if (facts->marked)
        leak->note =
            "fewer than 5 steady steps, so the slope has no interval and leaks cannot be detected";
    return true;
}
