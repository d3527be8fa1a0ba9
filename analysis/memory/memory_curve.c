// SPDX-License-Identifier: Apache-2.0
// Sorts allocations by device and time and computes totals that were not recorded.
#include "analysis/memory/memory_curve.h"

#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"

#include <inttypes.h>
#include <stdio.h>

// Allocations being sorted: key is the start, a the event, b the device's number.
struct sorting {
    const struct facts *facts;
    struct keyed *items, *scratch;
    struct groups devices;
    uint32_t count;
};

static const struct memory_args *args_of(const struct trace *trace, uint32_t event)
{
    return &trace->memory_args[trace->args[event]];
}

// Places each allocation at the number of its arguments, which is its order in the file.
static bool collect(struct sorting *sorting, struct err *err)
{
    const struct trace *trace = sorting->facts->trace;
    for (uint32_t i = 0; i < trace->memory_args_count; i++)
        sorting->items[i].a = FACTS_NONE;
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_ALLOCATION)
            sorting->items[trace->args[e]] = (struct keyed){trace->begin_ns[e], e, 0};
    for (uint32_t i = 0; i < trace->memory_args_count; i++) {
        if (sorting->items[i].a == FACTS_NONE)
            continue;
        struct keyed item = sorting->items[i];
        const struct memory_args *args = args_of(trace, item.a);
        uint32_t device = args->device_type == 0 ? 0 : (uint32_t)args->device; // one host
        if (!groups_index(&sorting->devices, (uint32_t)args->device_type, device, &item.b, err))
            return false;
        sorting->items[sorting->count++] = item;
    }
    sort_keyed(sorting->items, sorting->scratch, sorting->count);
    return true;
}

static bool make_arrays(const struct sorting *sorting, struct arena *arena,
                        struct memory_curves *curves, struct err *err)
{
    uint32_t kept = sorting->devices.count;
    curves->count = kept < MEMORY_MAX_DEVICES ? kept : MEMORY_MAX_DEVICES;
    for (uint32_t i = 0; i < sorting->count; i++) {
        if (sorting->items[i].b < curves->count)
            curves->curves[sorting->items[i].b].count++;
        else
            curves->left_out++;
    }
    for (uint32_t d = 0; d < curves->count; d++) {
        struct memory_curve *curve = &curves->curves[d];
        curve->device_type = (int32_t)(uint32_t)sorting->devices.keys[d].a;
        curve->device = (int32_t)(uint32_t)sorting->devices.keys[d].b;
        curve->events = arena_room(arena, curve->count, sizeof *curve->events, err);
        curve->allocated = arena_room(arena, curve->count, sizeof *curve->allocated, err);
        if (!curve->events || !curve->allocated)
            return false;
        curve->count = 0;
    }
    return true;
}

static void scatter(const struct sorting *sorting, struct memory_curves *curves)
{
    for (uint32_t i = 0; i < sorting->count; i++) {
        if (sorting->items[i].b >= curves->count)
            continue;
        struct memory_curve *curve = &curves->curves[sorting->items[i].b];
        curve->events[curve->count++] = sorting->items[i].a;
    }
}

// Running sums from `from` on, which adopt every recorded total and stay at `least` or above.
static void add_up(const struct trace *trace, struct memory_curve *curve, int64_t from,
                   int64_t least)
{
    int64_t level = from, gross = 0;
    for (uint32_t i = 0; i < curve->count; i++) {
        int64_t recorded = args_of(trace, curve->events[i])->allocated;
        bool known = recorded >= 0;
        int64_t bytes = memory_curve_bytes(trace, curve, i);
        curve->overflow |= __builtin_add_overflow(level, bytes, &level) && !known;
        curve->overflow |= __builtin_add_overflow(gross, bytes > 0 ? bytes : 0, &gross);
        level = known ? recorded : level < least ? least : level;
        curve->worked_out += !known;
        curve->allocated[i] = level;
    }
}

// What the releases require to have been there, if no total is recorded.
static int64_t least_begin(const struct memory_curve *curve)
{
    int64_t least = 0;
    for (uint32_t i = 0; i < curve->count; i++)
        least = curve->allocated[i] < least ? curve->allocated[i] : least;
    return least == INT64_MIN ? INT64_MAX : -least;
}

// The level before the first event: the first recorded total minus the changes up to it.
static void find_begin(const struct trace *trace, struct memory_curve *curve)
{
    int64_t bytes = 0;
    uint32_t first = 0;
    for (; first < curve->count; first++) {
        curve->overflow |=
            __builtin_add_overflow(bytes, memory_curve_bytes(trace, curve, first), &bytes);
        if (args_of(trace, curve->events[first])->allocated >= 0)
            break;
    }
    curve->lower_bound = first == curve->count;
    if (curve->lower_bound)
        return;
    curve->overflow |= __builtin_sub_overflow(args_of(trace, curve->events[first])->allocated,
                                              bytes, &curve->begin_bytes);
    if (curve->begin_bytes < 0)
        curve->begin_bytes = 0; // bytes and totals contradict each other
}

static void work_out(const struct trace *trace, struct memory_curve *curve)
{
    find_begin(trace, curve);
    if (curve->lower_bound) {
        add_up(trace, curve, 0, INT64_MIN);
        curve->begin_bytes = least_begin(curve);
        curve->worked_out = 0;
    }
    add_up(trace, curve, curve->begin_bytes, 0);
}

static bool goes_before(const struct memory_curve *a, const struct memory_curve *b)
{
    if ((a->device_type == 0) != (b->device_type == 0))
        return b->device_type == 0;
    if (a->device_type != b->device_type)
        return a->device_type < b->device_type;
    return a->device < b->device;
}

static void put_in_order(struct memory_curves *curves)
{
    for (uint32_t i = 1; i < curves->count; i++) {
        struct memory_curve curve = curves->curves[i];
        uint32_t at = i;
        for (; at > 0 && goes_before(&curve, &curves->curves[at - 1]); at--)
            curves->curves[at] = curves->curves[at - 1];
        curves->curves[at] = curve;
    }
}

bool memory_curves_make(const struct facts *facts, struct arena *arena,
                        struct memory_curves *curves, struct err *err)
{
    *curves = (struct memory_curves){0};
    size_t count = facts->trace->memory_args_count;
    size_t size = 2 * count * sizeof(struct keyed);
    if (count == 0)
        return true;
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    struct sorting sorting = {.facts = facts, .items = items, .scratch = items + count};
    groups_init(&sorting.devices, facts->budget);
    bool ok = collect(&sorting, err) && make_arrays(&sorting, arena, curves, err);
    if (ok)
        scatter(&sorting, curves);
    groups_free(&sorting.devices);
    budget_free(facts->budget, items, size);
    for (uint32_t d = 0; ok && d < curves->count; d++)
        work_out(facts->trace, &curves->curves[d]);
    put_in_order(curves);
    return ok;
}

struct str memory_curve_device(const struct memory_curve *curve, char text[32])
{
    static const struct {
        int32_t type;
        const char *word;
    } words[] = {{1, "cuda"}, {6, "hip"},   {12, "xpu"},          {13, "mps"},
                 {15, "hpu"}, {19, "mtia"}, {20, "privateuseone"}};
    if (curve->device_type == 0)
        return STR("cpu");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].type == curve->device_type) {
            snprintf(text, 32, "%s:%" PRId32, words[i].word, curve->device);
            return str_of(text);
        }
    }
    snprintf(text, 32, "type %" PRId32 ":%" PRId32, curve->device_type, curve->device);
    return str_of(text);
}

int64_t memory_curve_bytes(const struct trace *trace, const struct memory_curve *curve,
                           uint32_t point)
{
    int64_t bytes = args_of(trace, curve->events[point])->bytes;
    return bytes == VALUE_ABSENT ? 0 : bytes;
}

int64_t memory_curve_reserved(const struct trace *trace, const struct memory_curve *curve,
                              uint32_t point)
{
    int64_t reserved = args_of(trace, curve->events[point])->reserved;
    return curve->device_type == 0 || reserved < 0 ? VALUE_ABSENT : reserved;
}

struct memory_peak memory_curve_peak(const struct memory_curve *curve)
{
    struct memory_peak peak = {curve->begin_bytes, FACTS_NONE};
    for (uint32_t i = 0; i < curve->count; i++)
        if (curve->allocated[i] > peak.allocated)
            peak = (struct memory_peak){curve->allocated[i], i};
    return peak;
}
