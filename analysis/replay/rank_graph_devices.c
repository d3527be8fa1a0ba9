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

// What is missing to the start after the last hold: a short delay is the event's own. What came
// before the first event of a stream was not recorded, and is a node. The rest is not explained,
// and the replay starts too early.
static bool add_missing(struct graph_build *build, struct held *last, uint32_t device,
                        struct err *err)
{
    struct rank_graph *graph = build->graph;
    const struct device_event *event = &build->facts->devices[device];
    int64_t missing_ns = event->begin_ns - last->ready_ns;
    if (missing_ns <= START_NS) {
        last->lag_ns += missing_ns;
        return true;
    }
    if (event->launch != FACTS_NONE && build->previous[device] != FACTS_NONE) {
        graph->unexplained_ns += missing_ns;
        return true;
    }
    struct work_node work = graph_build_work(device, event->track, WORK_UNRECORDED);
    uint32_t node;
    return graph_build_other(build, work, missing_ns, &node, err) &&
           add_edge(build, last, node, err) && graph_build_edge(build, node, device, 0, err);
}

static void note_known(struct graph_build *build, const struct held *last, uint32_t device)
{
    const struct device_event *event = &build->facts->devices[device];
    if (event->launch != FACTS_NONE || event->begin_ns - last->ready_ns <= START_NS)
        build->graph->known_ns += event->end_ns - event->begin_ns;
}

static bool add_edges(struct graph_build *build, struct holds *holds, uint32_t device,
                      struct err *err)
{
    if (!add_missing(build, last_hold(holds), device, err))
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

// --- work that the recording lacks --------------------------------------------------------------

// Of one GPU. While such work runs, nothing else does: it starts when all that was running has
// ended, and all that follows waits for it.
struct lacking {
    const struct gap_list *gaps;
    uint32_t at;   // the first gap that ends later
    uint32_t node; // of the last such work, or REPLAY_NONE
    int64_t end_ns;
    uint32_t row; // the last one with events since then, or FACTS_NONE
};

struct device_row {
    uint32_t latest; // event since then that ends last, or FACTS_NONE
    uint32_t before; // another row with events since then, or FACTS_NONE
};

struct walk {
    struct lacking *lacking; // per GPU
    struct device_row *rows; // per row of the trace
    uint32_t *last;          // per launch: see earlier_in_graph
};

static bool start_walk(const struct graph_build *build, struct walk *walk, struct err *err)
{
    const struct facts *facts = build->facts;
    struct arena *arena = build->scratch;
    uint32_t tracks = facts->trace->track_count;
    walk->lacking = arena_room(arena, (size_t)facts->gpu_count + 1, sizeof *walk->lacking, err);
    walk->rows = arena_room(arena, (size_t)tracks + 1, sizeof *walk->rows, err);
    walk->last = arena_room(arena, (size_t)facts->launch_count + 1, sizeof *walk->last, err);
    if (!walk->lacking || !walk->rows || !walk->last)
        return false;
    for (uint32_t g = 0; g < facts->gpu_count; g++)
        walk->lacking[g] = (struct lacking){facts->gpu_gaps ? &facts->gpu_gaps[g] : &facts->gaps, 0,
                                            REPLAY_NONE, 0, FACTS_NONE};
    for (uint32_t t = 0; t < tracks; t++)
        walk->rows[t] = (struct device_row){FACTS_NONE, FACTS_NONE};
    for (uint32_t l = 0; l < facts->launch_count; l++)
        walk->last[l] = FACTS_NONE;
    return true;
}

// The gap that the event ends and in which the recording lacks work, or NULL.
static const struct gap *lacks_before(struct lacking *lacking, uint32_t device)
{
    const struct gap_list *gaps = lacking->gaps;
    while (lacking->at < gaps->count && gaps->gaps[lacking->at].next < device)
        lacking->at++;
    const struct gap *gap = lacking->at < gaps->count ? &gaps->gaps[lacking->at] : NULL;
    return gap && gap->next == device && gap->cause == IDLE_UNRECORDED && gap->before != FACTS_NONE
               ? gap
               : NULL;
}

static bool add_lacking(struct graph_build *build, struct walk *walk, struct lacking *lacking,
                        const struct gap *gap, struct err *err)
{
    uint32_t track = build->facts->devices[gap->next].track;
    struct work_node work = graph_build_work(gap->next, track, WORK_UNRECORDED);
    if (!graph_build_other(build, work, gap->end_ns - gap->begin_ns, &lacking->node, err))
        return false;
    lacking->end_ns = gap->end_ns;
    while (lacking->row != FACTS_NONE) {
        struct device_row *row = &walk->rows[lacking->row];
        if (!graph_build_edge(build, row->latest, lacking->node, 0, err))
            return false;
        lacking->row = row->before;
        *row = (struct device_row){FACTS_NONE, FACTS_NONE};
    }
    return true;
}

// The first event of its row to follow such work waits for it; what is behind it on that row does
// so by that.
static bool hold_lacking(struct graph_build *build, struct walk *walk, struct holds *holds,
                         uint32_t device, struct err *err)
{
    const struct device_event *devices = build->facts->devices;
    uint32_t track = devices[device].track;
    struct lacking *lacking = &walk->lacking[build->facts->track_gpu[track]];
    struct device_row *row = &walk->rows[track];
    const struct gap *gap = lacks_before(lacking, device);
    if (gap && !add_lacking(build, walk, lacking, gap, err))
        return false;
    if (row->latest == FACTS_NONE) {
        if (lacking->node != REPLAY_NONE)
            add_hold(build, holds, (struct held){lacking->node, 0, lacking->end_ns},
                     devices[device].begin_ns);
        *row = (struct device_row){device, lacking->row};
        lacking->row = track;
    } else if (devices[device].end_ns > devices[row->latest].end_ns) {
        row->latest = device;
    }
    return true;
}

// --- all ----------------------------------------------------------------------------------------

static bool add_one(struct graph_build *build, struct walk *walk, uint32_t device, struct err *err)
{
    struct holds holds = {.count = 0};
    add_launch(build, &holds, device);
    add_device(build, &holds, device, build->previous[device]);
    for (uint32_t a = build->first_await[device]; a != FACTS_NONE; a = build->awaits[a].next)
        add_device(build, &holds, device, build->awaits[a].device);
    add_device(build, &holds, device, earlier_in_graph(build, device, walk->last));
    add_suspect(build, &holds, device);
    if (holds.count)
        note_known(build, last_hold(&holds), device);
    if (!hold_lacking(build, walk, &holds, device, err))
        return false;
    return holds.count ? add_edges(build, &holds, device, err) : add_lead(build, device, err);
}

bool graph_build_devices(struct graph_build *build, struct err *err)
{
    struct walk walk;
    if (!start_walk(build, &walk, err))
        return false;
    for (uint32_t d = 0; d < build->facts->device_count; d++)
        if (!add_one(build, &walk, d, err))
            return false;
    return true;
}
