// SPDX-License-Identifier: Apache-2.0
// One pass over the device events by begin. Streams run in launch order, so an event that breaks it
// has a wrong link.
#include "analysis/facts/pending.h"

#include "analysis/names/gap_cause.h"

#define BLOCK_LAUNCHES 1024 // clocks drift: each block of launches has its own minimum delay
#define USUAL_SHARE    0.05 // of them have nearly the minimum, if that is the startup time
#define USUAL_COUNT    16

struct pass {
    const struct facts *facts;
    const struct stream_waits *waits;
    struct pending *pending;
    int64_t *latest_ns;  // per row: latest start of a launch whose event has already started there
    uint32_t *last;      // per row: the previous event
    int64_t lowest;      // correlation of any recorded call, 0 without any
    int64_t recorded_ns; // start of the first recorded launch
};

// Time from the start of the call that launched an event to that event, if it is the first of its
// launch; -1 for others.
static int64_t delay_of(const struct facts *facts, uint32_t device)
{
    const struct device_event *event = &facts->devices[device];
    if (event->launch == FACTS_NONE || facts->launches[event->launch].first != device)
        return -1;
    int64_t delay_ns =
        event->begin_ns - facts->trace->begin_ns[facts->launches[event->launch].event];
    return delay_ns > 0 ? delay_ns : 0;
}

// The minimum delay, if many launches have nearly that: then it is not due to a full queue.
static int64_t usual_delay(const struct facts *facts, uint32_t begin, uint32_t end)
{
    int64_t least_ns = INT64_MAX;
    uint32_t count = 0, near = 0;
    for (uint32_t i = begin; i < end; i++) {
        int64_t delay_ns = delay_of(facts, i);
        count += delay_ns >= 0;
        least_ns = delay_ns >= 0 && delay_ns < least_ns ? delay_ns : least_ns;
    }
    for (uint32_t i = begin; i < end; i++) {
        int64_t delay_ns = delay_of(facts, i);
        near += delay_ns >= 0 && delay_ns - least_ns <= IDLE_START_NS;
    }
    bool usual = near >= USUAL_COUNT && near >= USUAL_SHARE * count;
    return usual ? least_ns : 0;
}

// First device event after a block of launches that starts with one.
static uint32_t block_end(const struct facts *facts, uint32_t begin)
{
    uint32_t i = begin;
    for (uint32_t launches = 0; i < facts->device_count; i++) {
        launches += delay_of(facts, i) >= 0;
        if (launches > BLOCK_LAUNCHES)
            break;
    }
    return i;
}

static void find_recorded(struct pass *pass)
{
    const struct facts *facts = pass->facts;
    const struct trace *trace = facts->trace;
    for (uint32_t i = 0; i < trace->launch_args_count; i++) {
        int64_t correlation = trace->launch_args[i].correlation;
        if (correlation > 0 && (pass->lowest == 0 || correlation < pass->lowest))
            pass->lowest = correlation;
    }
    pass->recorded_ns = PENDING_UNKNOWN;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        int64_t begin_ns = trace->begin_ns[facts->launches[l].event];
        pass->recorded_ns = begin_ns < pass->recorded_ns ? begin_ns : pass->recorded_ns;
    }
}

// Correlations count up, so an event with a lower one than every recorded call was launched
// earlier.
static bool launched_before(const struct pass *pass, const struct device_event *event)
{
    uint32_t args = pass->facts->trace->args[event->event];
    if (args == ARGS_NONE || pass->latest_ns[event->track] != INT64_MIN)
        return false;
    int64_t correlation = pass->facts->trace->device_args[args].correlation;
    return correlation > 0 && correlation < pass->lowest;
}

static struct pending launched(struct pass *pass, uint32_t device)
{
    const struct facts *facts = pass->facts;
    const struct device_event *event = &facts->devices[device];
    if (event->launch == FACTS_NONE)
        return (struct pending){launched_before(pass, event) ? pass->recorded_ns : PENDING_UNKNOWN,
                                false};
    uint32_t call = facts->launches[event->launch].event;
    int64_t begin_ns = facts->trace->begin_ns[call], end_ns = facts_event_end(facts->trace, call);
    int64_t *latest_ns = &pass->latest_ns[event->track];
    int64_t nodes_ns = ((int64_t)facts->launches[event->launch].count - 1) * IDLE_NODE_NS;
    bool in_order = end_ns >= *latest_ns && !__builtin_add_overflow(end_ns, nodes_ns, &end_ns);
    if (begin_ns <= event->begin_ns && begin_ns > *latest_ns)
        *latest_ns = begin_ns;
    bool held = stream_waits_held(pass->waits, device, pass->last[event->track]) != FACTS_NONE;
    return (struct pending){in_order ? end_ns : PENDING_UNKNOWN, held};
}

static void fill(struct pass *pass)
{
    const struct facts *facts = pass->facts;
    for (uint32_t t = 0; t < facts->trace->track_count; t++) {
        pass->latest_ns[t] = INT64_MIN;
        pass->last[t] = FACTS_NONE;
    }
    for (uint32_t begin = 0, end; begin < facts->device_count; begin = end) {
        end = block_end(facts, begin);
        int64_t usual_ns = usual_delay(facts, begin, end);
        for (uint32_t i = begin; i < end; i++) {
            struct pending *pending = &pass->pending[i];
            *pending = launched(pass, i);
            if (__builtin_add_overflow(pending->since_ns, usual_ns, &pending->since_ns))
                pending->since_ns = PENDING_UNKNOWN;
            pass->last[facts->devices[i].track] = i;
        }
    }
}

bool pending_make(const struct facts *facts, const struct stream_waits *waits, struct arena *arena,
                  struct pending **pending, struct err *err)
{
    uint32_t tracks = facts->trace->track_count;
    struct pass pass = {
        .facts = facts,
        .waits = waits,
        .pending = arena_array(arena, facts->device_count, sizeof(struct pending), err),
        .latest_ns = arena_array(arena, tracks, sizeof(int64_t), err),
        .last = arena_array(arena, tracks, sizeof(uint32_t), err),
    };
    if (!pass.pending || !pass.latest_ns || !pass.last)
        return false;
    find_recorded(&pass);
    fill(&pass);
    *pending = pass.pending;
    return true;
}
