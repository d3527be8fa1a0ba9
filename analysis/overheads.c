// SPDX-License-Identifier: Apache-2.0
// Unites the profiler's overhead events of all rows.
#include "analysis/overheads.h"

#include "analysis/facts.h"
#include "analysis/sort.h"

static uint32_t collect(const struct trace *trace, struct keyed *items)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_OVERHEAD || trace->dur_ns[e] <= 0)
            continue;
        if (items)
            items[count] = (struct keyed){trace->begin_ns[e], e, 0};
        count++;
    }
    return count;
}

static void unite(const struct trace *trace, const struct keyed *items, uint32_t count,
                  struct overheads *overheads)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t end_ns = facts_event_end(trace, items[i].a);
        struct overhead *last = overheads->count ? &overheads->items[overheads->count - 1] : NULL;
        if (!last || items[i].key > last->end_ns)
            overheads->items[overheads->count++] =
                (struct overhead){items[i].key, end_ns, items[i].a};
        else if (end_ns > last->end_ns)
            last->end_ns = end_ns;
    }
}

bool overheads_make(const struct trace *trace, struct arena *arena, struct overheads *overheads,
                    struct err *err)
{
    *overheads = (struct overheads){0};
    uint32_t count = collect(trace, NULL);
    overheads->items = arena_array(arena, count, sizeof *overheads->items, err);
    struct keyed *items = arena_array(arena, 2 * (size_t)count, sizeof *items, err);
    if (!overheads->items || !items)
        return false;
    collect(trace, items);
    sort_keyed(items, items + count, count);
    unite(trace, items, count, overheads);
    return true;
}
