// SPDX-License-Identifier: Apache-2.0
// Joins device events and launches by sorting both by correlation.
#include "analysis/facts/links.h"

#include "analysis/facts/op_stack.h"
#include "analysis/stats/sort.h"

#include <assert.h>

// Both sides of the join, sorted by correlation.
struct join {
    struct keyed *devices;  // a: index of the device event; equal keys by begin
    struct keyed *launches; // a: event, b: order in the file
    uint32_t device_count, launch_count;
    struct keyed *scratch;
};

static bool is_launching(const struct trace *trace, uint32_t event)
{
    return event_kind_is_launch(trace->kind[event]) && trace->args[event] != ARGS_NONE &&
           trace->launch_args[trace->args[event]].correlation != VALUE_ABSENT;
}

static void add_devices(const struct facts *facts, struct join *join)
{
    for (uint32_t i = 0; i < facts->device_count; i++) {
        uint32_t args = facts->trace->args[facts->devices[i].event];
        if (args == ARGS_NONE || facts->trace->device_args[args].correlation == VALUE_ABSENT)
            continue;
        int64_t correlation = facts->trace->device_args[args].correlation;
        join->devices[join->device_count++] = (struct keyed){correlation, i, 0};
    }
    sort_keyed(join->devices, join->scratch, join->device_count);
}

static void add_launches(const struct trace *trace, struct join *join)
{
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        for (uint32_t i = 0; track->family == TRACK_HOST && i < track->count; i++) {
            uint32_t event = track->first + i;
            if (!is_launching(trace, event))
                continue;
            const struct launch_args *args = &trace->launch_args[trace->args[event]];
            join->launches[join->launch_count++] =
                (struct keyed){args->correlation, event, args->order};
        }
    }
    sort_keyed(join->launches, join->scratch, join->launch_count);
}

// First item after those with the key at `from`.
static uint32_t end_of_key(const struct keyed *items, uint32_t from, uint32_t count)
{
    uint32_t end = from;
    while (end < count && items[end].key == items[from].key)
        end++;
    return end;
}

static uint32_t last_in_file(const struct keyed *launches, uint32_t from, uint32_t end)
{
    uint32_t last = from;
    for (uint32_t i = from + 1; i < end; i++)
        if (launches[i].b >= launches[last].b)
            last = i;
    return launches[last].a;
}

// A function of the host that is launched has no device event.
static bool launches_kernel(struct str name)
{
    return str_find(name, STR("Launch")) != SIZE_MAX &&
           str_find(name, STR("LaunchHostFunc")) == SIZE_MAX;
}

// Lists the launches of kernels without a device event, by start.
static void list_lost(const struct facts *facts, const struct join *join, uint32_t from,
                      uint32_t end, uint64_t *lost)
{
    const struct trace *trace = facts->trace;
    for (uint32_t i = from; i < end; i++) {
        uint32_t event = join->launches[i].a;
        if (launches_kernel(facts_short_name(trace, trace->name[event])))
            join->scratch[(*lost)++].key = trace->begin_ns[event];
    }
}

// The start of the first launch that was lost after the last one whose kernel was recorded: copies
// on another stream run ahead.
static int64_t find_cut(const struct facts *facts, const struct join *join, uint32_t found)
{
    int64_t last_ns = INT64_MIN, cut_ns = INT64_MAX;
    for (uint32_t i = 0; facts->launches_without_events && i < found; i++) {
        const struct keyed *match = &join->launches[i];
        int64_t begin_ns = facts->trace->begin_ns[match->key];
        uint32_t event = facts->devices[join->devices[match->a].a].event;
        if (facts->trace->kind[event] == EVENT_KERNEL && begin_ns > last_ns)
            last_ns = begin_ns;
    }
    for (uint64_t i = 0; i < facts->launches_without_events; i++)
        if (join->scratch[i].key > last_ns && join->scratch[i].key < cut_ns)
            cut_ns = join->scratch[i].key;
    return cut_ns;
}

// Replaces join->launches by the matches: key is the event, a the first of join->devices, b their
// number. Returns how many; matches never overtake the launches still to read.
static uint32_t match(struct facts *facts, struct join *join)
{
    uint32_t found = 0, d = 0;
    for (uint32_t l = 0; l < join->launch_count;) {
        assert(found <= l); // entries written were already read
        int64_t correlation = join->launches[l].key;
        uint32_t l_end = end_of_key(join->launches, l, join->launch_count);
        while (d < join->device_count && join->devices[d].key < correlation)
            d++;
        if (d == join->device_count || join->devices[d].key != correlation) {
            list_lost(facts, join, l, l_end, &facts->launches_without_events);
            l = l_end;
            continue;
        }
        uint32_t d_end = end_of_key(join->devices, d, join->device_count);
        uint32_t event = last_in_file(join->launches, l, l_end);
        join->launches[found++] = (struct keyed){event, d, d_end - d};
        d = d_end;
        l = l_end;
    }
    facts->cut_ns = find_cut(facts, join, found);
    sort_keyed(join->launches, join->scratch, found);
    return found;
}

static bool fill(struct facts *facts, const struct join *join, uint32_t found, struct err *err)
{
    facts->launches = arena_array(facts->arena, found, sizeof *facts->launches, err);
    if (!facts->launches)
        return false;
    facts->launch_count = found;
    for (uint32_t i = 0; i < found; i++) {
        const struct keyed *match = &join->launches[i];
        const struct keyed *owned = &join->devices[match->a];
        assert(i == 0 || match[-1].key < match->key);
        facts->launches[i] = (struct launch){.event = (uint32_t)match->key,
                                             .op = FACTS_NONE,
                                             .first = owned[0].a,
                                             .count = match->b,
                                             .frame = FACTS_NONE,
                                             .forward = FACTS_NONE};
        facts->linked += match->b;
        for (uint32_t k = 0; k < match->b; k++) {
            facts->devices[owned[k].a].launch = i;
            facts->devices[owned[k].a].next = k + 1 < match->b ? owned[k + 1].a : FACTS_NONE;
        }
    }
    return true;
}

static uint32_t count_launching(const struct trace *trace)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < trace->event_count; e++)
        count += is_launching(trace, e);
    return count;
}

bool links_make(struct facts *facts, struct err *err)
{
    size_t devices = facts->device_count, launches = count_launching(facts->trace);
    size_t largest = devices > launches ? devices : launches;
    size_t size = (devices + launches + largest) * sizeof(struct keyed);
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    struct join join = {
        .devices = items,
        .launches = items + devices,
        .scratch = items + devices + launches,
    };
    add_devices(facts, &join);
    add_launches(facts->trace, &join);
    uint32_t found = match(facts, &join);
    bool ok = fill(facts, &join, found, err);
    budget_free(facts->budget, items, size);
    return ok && op_stack_assign(facts, err);
}
