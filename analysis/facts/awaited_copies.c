// SPDX-License-Identifier: Apache-2.0
// Launches are in order of their calls, and so is the list.
#include "analysis/facts/awaited_copies.h"

static bool is_awaited(const struct facts *facts, const struct launch *launch)
{
    const struct trace *trace = facts->trace;
    const struct device_event *device = &facts->devices[launch->first];
    return trace->kind[device->event] == EVENT_MEMCPY && launch->count == 1 &&
           device->end_ns <= facts_event_end(trace, launch->event) &&
           str_contains_nocase(facts_short_name(trace, trace->name[device->event]),
                               STR("pageable")) &&
           str_find(facts_short_name(trace, trace->name[launch->event]), STR("Memcpy")) != SIZE_MAX;
}

bool awaited_copies_find(const struct facts *facts, struct arena *arena, struct host_traits *traits,
                         struct err *err)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        count += is_awaited(facts, &facts->launches[l]);
    uint32_t *calls = arena_room(arena, (size_t)count + 1, sizeof *calls, err);
    if (!calls)
        return false;
    traits->waiting = calls;
    traits->waiting_count = count;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (is_awaited(facts, &facts->launches[l]))
            *calls++ = facts->launches[l].event;
    return true;
}
