// SPDX-License-Identifier: Apache-2.0
#include "analysis/comm/comm_blocked.h"

#include "analysis/facts/awaited_copies.h"
#include "analysis/names/host_traits.h"
#include "analysis/stats/sort.h"
#include "ingest/base/search.h"

static bool waits(struct host_traits *traits, uint32_t event)
{
    return event_kind_is_launch((enum event_kind)traits->trace->kind[event]) &&
           host_traits_of(traits, event) >> HOST_SYNC & 1;
}

// The waiting calls, unsorted, and room for as many more after them.
struct waiting {
    struct keyed *items;
    uint32_t count, cap;
};

static bool add(struct waiting *waiting, const struct trace *trace, uint32_t event,
                struct arena *arena, struct err *err)
{
    if (waiting->count == waiting->cap) {
        uint32_t cap = waiting->cap ? 2 * waiting->cap : 1024;
        struct keyed *items =
            arena_grow(arena, waiting->items, 2 * (size_t)waiting->cap * sizeof *items,
                       2 * (size_t)cap * sizeof *items, err);
        if (!items)
            return false;
        waiting->items = items;
        waiting->cap = cap;
    }
    waiting->items[waiting->count++] = (struct keyed){trace->begin_ns[event], event, 0};
    return true;
}

static bool list_calls(struct host_traits *traits, struct arena *arena, struct waiting *waiting,
                       struct err *err)
{
    const struct trace *trace = traits->trace;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        uint32_t end = track->family == TRACK_HOST ? track->first + track->count : track->first;
        for (uint32_t e = track->first; e < end; e++)
            if (waits(traits, e) && !add(waiting, trace, e, arena, err))
                return false;
    }
    return true;
}

static void join(const struct trace *trace, const struct keyed *items, uint32_t count,
                 struct comm_blocked *blocked)
{
    int64_t sum_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t begin_ns = items[i].key, end_ns = facts_event_end(trace, items[i].a);
        struct stretch_blocked *last = &blocked->stretches[blocked->count];
        if (blocked->count > 0 && begin_ns < last[-1].end_ns) {
            sum_ns += end_ns > last[-1].end_ns ? end_ns - last[-1].end_ns : 0;
            last[-1].end_ns = end_ns > last[-1].end_ns ? end_ns : last[-1].end_ns;
            continue;
        }
        *last = (struct stretch_blocked){begin_ns, end_ns, sum_ns};
        sum_ns += end_ns - begin_ns;
        blocked->count++;
    }
}

static bool fill(struct host_traits *traits, struct arena *arena, struct comm_blocked *blocked,
                 struct err *err)
{
    struct waiting waiting = {0};
    if (!list_calls(traits, arena, &waiting, err))
        return false;
    blocked->stretches = arena_room(arena, waiting.count, sizeof *blocked->stretches, err);
    if (!blocked->stretches)
        return false;
    if (waiting.count)
        sort_keyed(waiting.items, waiting.items + waiting.cap, waiting.count);
    join(traits->trace, waiting.items, waiting.count, blocked);
    return true;
}

bool comm_blocked_make(const struct facts *facts, struct arena *arena, struct comm_blocked *blocked,
                       struct err *err)
{
    struct host_traits traits;
    *blocked = (struct comm_blocked){0};
    if (!host_traits_make(&traits, facts->trace, facts->budget, err))
        return false;
    bool ok = awaited_copies_find(facts, arena, &traits, err) && fill(&traits, arena, blocked, err);
    host_traits_free(&traits);
    return ok;
}

int64_t comm_blocked_until(const struct comm_blocked *blocked, int64_t time_ns)
{
    uint32_t begun = count_below_i64(FIRST_OF(blocked->stretches, begin_ns), blocked->count,
                                     sizeof *blocked->stretches, time_ns);
    if (begun == 0)
        return 0;
    const struct stretch_blocked *last = &blocked->stretches[begun - 1];
    int64_t until_ns = last->end_ns < time_ns ? last->end_ns : time_ns;
    return last->before_ns + until_ns - last->begin_ns;
}
