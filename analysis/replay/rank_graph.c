// SPDX-License-Identifier: Apache-2.0
// Nodes are the device events, then what the threads do, then what is known only by its length.
#include "analysis/replay/rank_graph_build.h"

#include "ingest/base/search.h"

bool graph_build_node(struct graph_build *build, struct work_node node, int64_t dur_ns,
                      uint32_t *index, struct err *err)
{
    struct rank_graph *graph = build->graph;
    if (build->node_count == build->node_room) {
        size_t room = 2 * build->node_room + 1024, old = build->node_room;
        void *nodes = arena_grow(build->arena, graph->nodes, old * sizeof *graph->nodes,
                                 room * sizeof *graph->nodes, err);
        if (!nodes)
            return false;
        graph->nodes = nodes;
        void *dur = arena_grow(build->arena, graph->dur, old * sizeof *graph->dur,
                               room * sizeof *graph->dur, err);
        if (!dur)
            return false;
        graph->dur = dur;
        build->node_room = room;
    }
    *index = build->node_count++;
    graph->nodes[*index] = node;
    graph->dur[*index] = dur_ns;
    return true;
}

bool graph_build_edge(struct graph_build *build, uint32_t from, uint32_t to, int64_t lag_ns,
                      struct err *err)
{
    if (build->edge_count == build->edge_room) {
        size_t room = 2 * build->edge_room + 4096, size = sizeof *build->edges;
        void *edges =
            arena_grow(build->scratch, build->edges, build->edge_room * size, room * size, err);
        if (!edges)
            return false;
        build->edges = edges;
        build->edge_room = room;
    }
    lag_ns = lag_ns > INT32_MAX ? INT32_MAX : lag_ns < INT32_MIN ? INT32_MIN : lag_ns;
    build->edges[build->edge_count++] = (struct replay_edge){from, to, (int32_t)lag_ns};
    return true;
}

int64_t graph_build_launched_ns(const struct graph_build *build, uint32_t device)
{
    uint32_t launch = build->facts->devices[device].launch;
    return launch == FACTS_NONE
               ? INT64_MIN
               : build->facts->trace->begin_ns[build->facts->launches[launch].event];
}

// --- streams ------------------------------------------------------------------------------------

static bool list_streams(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    uint32_t tracks = facts->trace->track_count;
    build->streams = arena_array(build->scratch, tracks, sizeof *build->streams, err);
    build->previous = arena_room(build->scratch, facts->device_count, sizeof(uint32_t), err);
    uint32_t *devices = arena_room(build->scratch, facts->device_count, sizeof(uint32_t), err);
    if (!build->streams || !build->previous || !devices)
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        build->streams[facts->devices[d].track].count++;
    for (uint32_t t = 0; t < tracks; t++) {
        build->streams[t].devices = devices;
        devices += build->streams[t].count;
        build->streams[t].count = 0;
    }
    for (uint32_t d = 0; d < facts->device_count; d++) {
        struct stream_list *stream = &build->streams[facts->devices[d].track];
        build->previous[d] = stream->count ? stream->devices[stream->count - 1] : FACTS_NONE;
        stream->devices[stream->count++] = d;
    }
    return true;
}

uint32_t graph_build_done(const struct graph_build *build, uint32_t track, int64_t launched_ns,
                          int64_t ended_ns)
{
    enum { MOST_BACK = 64 }; // beyond events that break the order of their stream
    const struct stream_list *stream = &build->streams[track];
    const struct device_event *devices = build->facts->devices;
    uint32_t low = 0, high = stream->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (devices[stream->devices[middle]].end_ns <= ended_ns)
            low = middle + 1;
        else
            high = middle;
    }
    // Of those that had ended, also the last launched before the time, by halving again.
    uint32_t ended = low;
    low = 0;
    high = ended;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph_build_launched_ns(build, stream->devices[middle]) < launched_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t back = 0; low > 0 && back < MOST_BACK; back++, low--) {
        uint32_t device = stream->devices[low - 1];
        if (graph_build_launched_ns(build, device) < launched_ns &&
            devices[device].end_ns <= ended_ns)
            return device;
    }
    return FACTS_NONE;
}

// --- usual delays -------------------------------------------------------------------------------

// The time that only one in a hundred falls below, so that a few clock errors do not matter.
static bool least_of(int64_t *values, uint32_t count, struct arena *scratch, int64_t *least,
                     struct err *err)
{
    int64_t *other = arena_room(scratch, (size_t)count + 1, sizeof *other, err);
    if (!other)
        return false;
    sort_i64(values, other, count);
    *least = count ? values[count / 100] : 0;
    return true;
}

// A launch takes that long until its event starts where the recording does not show it, because
// no stream was ever free; it shows it from so many launches on.
#define USUAL_LAUNCH_NS 5000
#define LEAST_SAMPLES   8

static bool learn_delays(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    int64_t *launch_ns = arena_room(build->scratch, facts->device_count, sizeof(int64_t), err);
    int64_t *gap_ns = arena_room(build->scratch, facts->device_count, sizeof(int64_t), err);
    uint32_t launches = 0, gaps = 0;
    if (!launch_ns || !gap_ns)
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        int64_t launched_ns = graph_build_launched_ns(build, d);
        if (launched_ns == INT64_MIN)
            continue;
        uint32_t before = build->previous[d];
        bool free = before == FACTS_NONE || facts->devices[before].end_ns <= launched_ns;
        if (free && device->begin_ns >= launched_ns)
            launch_ns[launches++] = device->begin_ns - launched_ns;
        if (before != FACTS_NONE && launched_ns < facts->devices[before].begin_ns &&
            device->begin_ns >= facts->devices[before].end_ns)
            gap_ns[gaps++] = device->begin_ns - facts->devices[before].end_ns;
    }
    build->launch_ns = USUAL_LAUNCH_NS;
    return (launches < LEAST_SAMPLES ||
            least_of(launch_ns, launches, build->scratch, &build->launch_ns, err)) &&
           least_of(gap_ns, gaps, build->scratch, &build->gap_ns, err);
}

// --- steps --------------------------------------------------------------------------------------

int64_t rank_graph_at(const struct work_border *border, const int64_t *end)
{
    return (border->node == REPLAY_NONE ? 0 : end[border->node]) + border->after_ns;
}

// The latest end of a device event up to a time; of those on the main stream, if one ends there.
static struct work_border border_at(const struct graph_build *build, int64_t time_ns)
{
    const struct facts *facts = build->facts;
    struct work_border border = {REPLAY_NONE, time_ns - build->graph->begin_ns};
    for (uint32_t t = 0; t < facts->trace->track_count; t++) {
        const struct stream_list *stream = &build->streams[t];
        uint32_t at = 0, high = stream->count;
        while (at < high) {
            uint32_t middle = at + (high - at) / 2;
            if (facts->devices[stream->devices[middle]].end_ns <= time_ns)
                at = middle + 1;
            else
                high = middle;
        }
        if (at == 0)
            continue;
        uint32_t device = stream->devices[at - 1];
        int64_t after_ns = time_ns - facts->devices[device].end_ns;
        if (after_ns < border.after_ns || border.node == REPLAY_NONE ||
            (after_ns == border.after_ns && t == facts->main_track))
            border = (struct work_border){device, after_ns};
    }
    return border;
}

static bool place_steps(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    struct rank_graph *graph = build->graph;
    graph->steps =
        arena_room(build->arena, (size_t)facts->steady_count + 1, sizeof *graph->steps, err);
    if (!graph->steps)
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        const struct step *step = &facts->steps[s];
        if (!step->steady || step->end_ns <= step->begin_ns)
            continue;
        graph->steps[graph->step_count++] =
            (struct work_step){s, border_at(build, step->begin_ns), border_at(build, step->end_ns)};
    }
    return true;
}

// --- all ----------------------------------------------------------------------------------------

static bool add_device_nodes(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    uint32_t node;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        int64_t dur_ns = device->end_ns - device->begin_ns;
        build->graph->device_ns += dur_ns;
        struct work_node work = {device->begin_ns, d, device->track, WORK_DEVICE};
        if (!graph_build_node(build, work, dur_ns, &node, err))
            return false;
    }
    return true;
}

static void find_begin(struct graph_build *build)
{
    const struct facts *facts = build->facts;
    int64_t begin_ns = facts->begin_ns;
    if (build->call_count && build->calls[0].begin_ns < begin_ns)
        begin_ns = build->calls[0].begin_ns;
    build->graph->begin_ns = begin_ns;
}

static bool fill(struct graph_build *build, struct err *err)
{
    struct rank_graph *graph = build->graph;
    if (!stream_waits_make(build->facts, &build->traits, build->scratch, &build->waits, err) ||
        !list_streams(build, err) || !learn_delays(build, err) || !graph_build_calls(build, err) ||
        !graph_build_waits(build, err))
        return false;
    find_begin(build);
    return add_device_nodes(build, err) && graph_build_hosts(build, err) &&
           graph_build_devices(build, err) && place_steps(build, err) &&
           replay_graph_make(build->edges, build->edge_count, build->node_count, build->arena,
                             &graph->graph, err) &&
           replay_fits(&graph->graph, graph->dur, err);
}

bool rank_graph_make(const struct facts *facts, struct arena *arena, struct rank_graph *graph,
                     struct err *err)
{
    struct arena scratch;
    struct graph_build build = {
        .facts = facts, .graph = graph, .arena = arena, .scratch = &scratch};
    *graph = (struct rank_graph){0};
    if (!host_traits_make(&build.traits, facts->trace, facts->budget, err))
        return false;
    arena_init(&scratch, facts->budget);
    bool ok = fill(&build, err);
    arena_free(&scratch);
    host_traits_free(&build.traits);
    return ok;
}
