// SPDX-License-Identifier: Apache-2.0
#include "analysis/facts/facts_within.h"

#include "analysis/facts/op_calls.h"

struct choice {
    const struct facts *facts;
    struct facts *part;
    uint32_t *launch_of; // per launch: its index in the part, or FACTS_NONE
};

static bool take_launches(struct choice *choice, const uint32_t *chosen, struct err *err)
{
    const struct facts *facts = choice->facts;
    struct facts *part = choice->part;
    choice->launch_of = arena_room(part->arena, facts->launch_count, sizeof(uint32_t), err);
    part->launches = arena_room(part->arena, facts->launch_count, sizeof *part->launches, err);
    if (!choice->launch_of || !part->launches)
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        choice->launch_of[l] = FACTS_NONE;
    for (uint32_t i = 0; i < part->device_count; i++)
        if (facts->devices[chosen[i]].launch != FACTS_NONE)
            choice->launch_of[facts->devices[chosen[i]].launch] = 0;
    part->launch_count = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        if (choice->launch_of[l] == FACTS_NONE)
            continue;
        struct launch *launch = &part->launches[part->launch_count];
        *launch = facts->launches[l];
        launch->first = FACTS_NONE;
        launch->count = 0;
        choice->launch_of[l] = part->launch_count++;
    }
    return true;
}

// Backwards, so that each launch's events come in order.
static void take_devices(const struct choice *choice, const uint32_t *chosen)
{
    struct facts *part = choice->part;
    part->linked = 0;
    part->whole = (struct parts){0};
    for (uint32_t i = part->device_count; i-- > 0;) {
        struct device_event *device = &part->devices[i];
        *device = choice->facts->devices[chosen[i]];
        part->steady_owned_ns[i] = choice->facts->steady_owned_ns[chosen[i]];
        part->whole.bar_ns[device->bar] += device->owned_ns;
        device->next = FACTS_NONE;
        if (device->launch == FACTS_NONE)
            continue;
        device->launch = choice->launch_of[device->launch];
        struct launch *launch = &part->launches[device->launch];
        device->next = launch->first;
        launch->first = i;
        launch->count++;
        part->linked++;
    }
}

bool facts_within(const struct facts *facts, const uint32_t *chosen, uint32_t count,
                  struct arena *arena, struct facts_part *within, struct err *err)
{
    *within = (struct facts_part){.facts = *facts, .of = facts, .chosen = chosen};
    struct facts *part = &within->facts;
    struct choice choice = {.facts = facts, .part = part};
    part->arena = arena;
    part->is_part = true;
    part->device_count = count;
    part->devices = arena_room(arena, count, sizeof *part->devices, err);
    part->steady_owned_ns = arena_room(arena, count, sizeof *part->steady_owned_ns, err);
    if (!part->devices || !part->steady_owned_ns || !take_launches(&choice, chosen, err))
        return false;
    take_devices(&choice, chosen);
    return facts_list_classes(part, err) && facts_list_gpus(part, err) && op_calls_make(part, err);
}
