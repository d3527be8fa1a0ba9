// SPDX-License-Identifier: Apache-2.0
// A device event starts after its launch, after the event before it on its stream, and after what
// the host made its stream wait for; a little later than that it is the device's own doing.
#include "analysis/replay/rank_graph_build.h"

#include "analysis/facts/gaps.h"

enum { MOST_WAITS = 16 };
// The most that starting an event takes when nothing holds it up. Longer is unexplained.
#define START_NS 10000
// How long after what held it up an event starts, where that is a guess; and the shortest delay
// worth a guess.
#define FOLLOWS_NS 2000

// What a device event waited for, and when it would have started because of that.
struct held {
    uint32_t node;
    int64_t lag_ns;   // the least
    int64_t ready_ns; // as recorded, with the least lag
};

struct holds {
    struct held at[MOST_WAITS];
    uint32_t count;
};

static void add_hold(struct graph_build *build, struct holds *holds, struct held held,
                     int64_t begin_ns)
{
    if (holds->count == MOST_WAITS)
        return;
    if (held.ready_ns > begin_ns) {
        // The recording says that it started earlier: never later than it did.
        int64_t early_ns = held.ready_ns - begin_ns;
        build->graph->violated += early_ns > held.lag_ns;
        held.lag_ns -= early_ns;
        held.ready_ns = begin_ns;
    }
    holds->at[holds->count++] = held;
}

static void add_launch(struct graph_build *build, struct holds *holds, uint32_t device)
{
    const struct device_event *event = &build->facts->devices[device];
    uint32_t before = build->previous[device];
    // Of a graph's events on a stream only the first waits for the launch: the others follow it.
    if (event->launch == FACTS_NONE ||
        (before != FACTS_NONE && build->facts->devices[before].launch == event->launch))
        return;
    uint32_t call = build->launch_call[event->launch];
    struct held held = {graph_build_before(build, call), build->launch_ns,
                        build->calls[call].begin_ns + build->launch_ns};
    add_hold(build, holds, held, event->begin_ns);
}

static bool is_held_by(const struct holds *holds, uint32_t node)
{
    uint32_t h = 0;
    while (h < holds->count && holds->at[h].node != node)
        h++;
    return h < holds->count;
}

static void add_device(struct graph_build *build, struct holds *holds, uint32_t device,
                       uint32_t before)
{
    if (before == FACTS_NONE || before == device || is_held_by(holds, before))
        return;
    struct held held = {before, build->gap_ns,
                        build->facts->devices[before].end_ns + build->gap_ns};
    add_hold(build, holds, held, build->facts->devices[device].begin_ns);
}

// Within a graph: the event of the same launch that ended last before this one started.
static uint32_t earlier_in_graph(const struct graph_build *build, uint32_t device, uint32_t *last)
{
    const struct device_event *devices = build->facts->devices;
    uint32_t launch = devices[device].launch;
    if (launch == FACTS_NONE || build->facts->launches[launch].count < 2)
        return FACTS_NONE;
    uint32_t before = last[launch];
    if (before == FACTS_NONE || devices[device].end_ns > devices[before].end_ns)
        last[launch] = device;
    return before != FACTS_NONE && devices[before].end_ns <= devices[device].begin_ns ? before
                                                                                      : FACTS_NONE;
}

static struct held *last_hold(struct holds *holds)
{
    struct held *last = holds->count ? &holds->at[0] : NULL;
    for (uint32_t h = 1; h < holds->count; h++)
        last = holds->at[h].ready_ns > last->ready_ns ? &holds->at[h] : last;
    return last;
}

// Something that was not recorded held it up: probably what ended on another stream just before, be
// it by an event or because the device had no room for both.
static void add_suspect(struct graph_build *build, struct holds *holds, uint32_t device)
{
    const struct device_event *devices = build->facts->devices;
    int64_t begin_ns = devices[device].begin_ns;
    uint32_t found = graph_build_last_done(build, device, INT64_MAX);
    const struct held *last = last_hold(holds);
    int64_t missing_ns = last ? begin_ns - last->ready_ns : INT64_MAX;
    int64_t within_ns = missing_ns > START_NS ? START_NS : FOLLOWS_NS;
    if (missing_ns > FOLLOWS_NS && found != FACTS_NONE &&
        devices[found].end_ns >= begin_ns - within_ns)
        add_device(build, holds, device, found);
}

static bool add_edge(struct graph_build *build, const struct held *held, uint32_t to,
                     struct err *err)
{
    return graph_build_edge(build, held->node, to, held->lag_ns, err);
}

// What is missing to the start after the last hold: a short delay is the event's own. Work that the
// recording lacks is a node. The rest is not explained, and the replay starts too early.
static bool add_missing(struct graph_build *build, struct held *last, uint32_t device,
                        bool unrecorded, struct err *err)
{
    struct rank_graph *graph = build->graph;
    const struct device_event *event = &build->facts->devices[device];
    int64_t missing_ns = event->begin_ns - last->ready_ns;
    if (missing_ns <= START_NS) {
        last->lag_ns += missing_ns;
        return true;
    }
    // What came before the first event of a stream was not recorded.
    bool seen = event->launch != FACTS_NONE && build->previous[device] != FACTS_NONE;
    if (!unrecorded && seen) {
        graph->unexplained_ns += missing_ns;
        return true;
    }
    struct work_node work = graph_build_work(device, event->track, WORK_UNRECORDED);
    uint32_t node;
    return graph_build_other(build, work, missing_ns, &node, err) &&
           add_edge(build, last, node, err) && graph_build_edge(build, node, device, 0, err);
}

static bool add_edges(struct graph_build *build, struct holds *holds, uint32_t device,
                      bool unrecorded, struct err *err)
{
    const struct device_event *event = &build->facts->devices[device];
    struct held *last = last_hold(holds);
    bool known = event->launch != FACTS_NONE || event->begin_ns - last->ready_ns <= START_NS;
    build->graph->known_ns += known ? event->end_ns - event->begin_ns : 0;
    if (!add_missing(build, last, device, unrecorded, err))
        return false;
    for (uint32_t h = 0; h < holds->count; h++)
        if (!add_edge(build, &holds->at[h], device, err))
            return false;
    return true;
}

static bool add_lead(struct graph_build *build, uint32_t device, struct err *err)
{
    int64_t from_ns = build->graph->begin_ns;
    const struct device_event *event = &build->facts->devices[device];
    struct work_node work = graph_build_work(device, event->track, WORK_LEAD);
    uint32_t node;
    return graph_build_other(build, work, event->begin_ns - from_ns, &node, err) &&
           graph_build_edge(build, node, device, 0, err);
}

static void mark_unrecorded(const struct gap_list *gaps, uint8_t *unrecorded)
{
    for (uint32_t g = 0; g < gaps->count; g++)
        if (gaps->gaps[g].cause == IDLE_UNRECORDED && gaps->gaps[g].next != FACTS_NONE)
            unrecorded[gaps->gaps[g].next] = 1;
}

bool graph_build_devices(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    uint8_t *unrecorded = arena_array(build->scratch, (size_t)facts->device_count + 1, 1, err);
    uint32_t *last = arena_room(build->scratch, (size_t)facts->launch_count + 1, sizeof *last, err);
    if (!unrecorded || !last)
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        last[l] = FACTS_NONE;
    mark_unrecorded(&facts->gaps, unrecorded);
    for (uint32_t g = 0; facts->gpu_gaps && g < facts->gpu_count; g++)
        mark_unrecorded(&facts->gpu_gaps[g], unrecorded);
    for (uint32_t d = 0; d < facts->device_count; d++) {
        struct holds holds = {.count = 0};
        add_launch(build, &holds, d);
        add_device(build, &holds, d, build->previous[d]);
        for (uint32_t a = build->first_await[d]; a != FACTS_NONE; a = build->awaits[a].next)
            add_device(build, &holds, d, build->awaits[a].device);
        add_device(build, &holds, d, earlier_in_graph(build, d, last));
        add_suspect(build, &holds, d);
        bool ok =
            holds.count ? add_edges(build, &holds, d, unrecorded[d], err) : add_lead(build, d, err);
        if (!ok)
            return false;
    }
    return true;
}
