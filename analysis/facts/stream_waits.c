// SPDX-License-Identifier: Apache-2.0
// Collects waits once, then answers by binary search.
#include "analysis/facts/stream_waits.h"

#include "analysis/facts/track_pairs.h"
#include "ingest/base/search.h"

static bool is_row(const struct trace *trace, uint32_t event)
{
    return trace->kind[event] == EVENT_SYNC &&
           str_equal(trace_text(trace, trace->name[event]), STR("Stream Wait Event"));
}

static bool is_call(const struct trace *trace, struct host_traits *traits, uint32_t event,
                    enum host_trait trait)
{
    return event_kind_is_launch((enum event_kind)trace->kind[event]) &&
           host_traits_of(traits, event) >> trait & 1;
}

static bool collect(const struct trace *trace, struct host_traits *traits, struct arena *arena,
                    struct stream_waits *waits, struct err *err)
{
    uint32_t calls = 0, rows = 0, holds = 0;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        calls += is_call(trace, traits, e, HOST_STREAM_WAIT);
        holds += is_call(trace, traits, e, HOST_HOLD);
        rows += is_row(trace, e);
    }
    waits->calls = arena_array(arena, calls, sizeof(uint32_t), err);
    waits->rows = arena_array(arena, rows, sizeof(uint32_t), err);
    waits->holds = arena_array(arena, 2 * (size_t)holds, sizeof *waits->holds, err);
    if (!waits->calls || !waits->rows || !waits->holds)
        return false;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (is_call(trace, traits, e, HOST_STREAM_WAIT))
            waits->calls[waits->call_count++] = e;
        if (is_call(trace, traits, e, HOST_HOLD))
            waits->holds[waits->hold_count++] = (struct keyed){trace->begin_ns[e], e, 0};
        if (is_row(trace, e))
            waits->rows[waits->row_count++] = e;
    }
    sort_keyed(waits->holds, waits->holds + holds, holds);
    return true;
}

bool stream_waits_make(const struct facts *facts, struct host_traits *traits, struct arena *arena,
                       struct stream_waits *waits, struct err *err)
{
    *waits = (struct stream_waits){.facts = facts};
    return collect(facts->trace, traits, arena, waits, err) &&
           track_pairs_make(facts->trace, TRACK_DEVICE_NOTE, arena, &waits->notes_of, err);
}

// The last of ascending events below `end` that is not below `first`, or FACTS_NONE.
static uint32_t last_before(const uint32_t *events, uint32_t count, uint32_t first, uint32_t end)
{
    uint32_t before = count_below_u32(events, count, sizeof *events, end);
    return before && events[before - 1] >= first ? events[before - 1] : FACTS_NONE;
}

static uint32_t find_call(const struct stream_waits *waits, uint32_t launch)
{
    const struct facts *facts = waits->facts;
    uint32_t event = facts->launches[launch].event;
    uint32_t track = track_of_event(facts->trace, event);
    uint32_t first = facts->trace->tracks[track].first;
    if (launch > 0 && facts->launches[launch - 1].event >= first)
        first = facts->launches[launch - 1].event;
    return last_before(waits->calls, waits->call_count, first, event);
}

// First event of a row that begins after the time.
static uint32_t first_after(const struct trace *trace, const struct track *track, int64_t time_ns)
{
    const int64_t *begin_ns = trace->begin_ns + track->first;
    return track->first + count_upto_i64(begin_ns, track->count, sizeof *begin_ns, time_ns);
}

// When a device event was requested: its launch, else its own begin.
static int64_t asked_ns(const struct facts *facts, uint32_t device)
{
    const struct device_event *event = &facts->devices[device];
    if (event->launch == FACTS_NONE)
        return event->begin_ns;
    return facts->trace->begin_ns[facts->launches[event->launch].event];
}

static uint32_t find_row(const struct stream_waits *waits, uint32_t device, uint32_t previous)
{
    const struct facts *facts = waits->facts;
    uint32_t notes = waits->notes_of[facts->devices[device].track];
    if (notes == FACTS_NONE)
        return FACTS_NONE;
    const struct track *track = &facts->trace->tracks[notes];
    uint32_t first = track->first;
    if (previous != FACTS_NONE)
        first = first_after(facts->trace, track, asked_ns(facts, previous));
    uint32_t end = first_after(facts->trace, track, asked_ns(facts, device));
    return last_before(waits->rows, waits->row_count, first, end);
}

uint32_t stream_waits_held(const struct stream_waits *waits, uint32_t device, uint32_t previous)
{
    int64_t end_ns = asked_ns(waits->facts, device);
    uint32_t before = count_below_i64(FIRST_OF(waits->holds, key), waits->hold_count,
                                      sizeof *waits->holds, end_ns);
    if (before == 0)
        return FACTS_NONE;
    const struct keyed *hold = &waits->holds[before - 1];
    bool after = previous == FACTS_NONE || hold->key > asked_ns(waits->facts, previous);
    return after ? hold->a : FACTS_NONE;
}

uint32_t stream_waits_find(const struct stream_waits *waits, uint32_t device, uint32_t previous)
{
    uint32_t wait = waits->row_count ? find_row(waits, device, previous)
                                     : find_call(waits, waits->facts->devices[device].launch);
    return wait != FACTS_NONE ? wait : stream_waits_held(waits, device, previous);
}
