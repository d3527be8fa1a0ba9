// SPDX-License-Identifier: Apache-2.0
// Unites the overhead events of all rows, kind by kind.
#include "analysis/facts/overheads.h"

#include "analysis/facts/facts.h"
#include "analysis/stats/sort.h"

enum overhead_kind overhead_kind_of(const struct trace *trace, uint32_t event)
{
    static const struct {
        const char *name;
        enum overhead_kind kind;
    } others[] = {
        {"Lazy Function Loading", OVERHEAD_LOADING},
        {"Runtime Triggered Module Loading", OVERHEAD_LOADING},
        {"Driver Compiler", OVERHEAD_LOADING},
        {"Command Buffer Full", OVERHEAD_OTHER},
    };
    struct str name = trace_text(trace, trace->name[event]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_equal_nocase(name, str_of(others[i].name)))
            return others[i].kind;
    return OVERHEAD_PROFILER;
}

static uint32_t collect(const struct trace *trace, enum overhead_kind kind, struct keyed *items)
{
    uint32_t count = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_OVERHEAD || trace->dur_ns[e] <= 0 ||
            overhead_kind_of(trace, e) != kind)
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

bool overheads_make(const struct trace *trace, enum overhead_kind kind, struct arena *arena,
                    struct overheads *overheads, struct err *err)
{
    *overheads = (struct overheads){0};
    uint32_t count = collect(trace, kind, NULL);
    if (!count)
        return true;
    overheads->items = arena_array(arena, count, sizeof *overheads->items, err);
    struct keyed *items = arena_array(arena, 2 * (size_t)count, sizeof *items, err);
    if (!overheads->items || !items)
        return false;
    collect(trace, kind, items);
    sort_keyed(items, items + count, count);
    unite(trace, items, count, overheads);
    return true;
}
