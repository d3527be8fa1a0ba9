// SPDX-License-Identifier: Apache-2.0
// Nodes are the device events, then what the threads do, then what is known only by its length.
#include "analysis/replay/rank_graph_build.h"

#include "analysis/facts/track_pairs.h"
#include "ingest/base/search.h"

bool graph_build_node(struct graph_build *build, int64_t dur_ns, uint32_t *index, struct err *err)
{
    struct rank_graph *graph = build->graph;
    if (build->node_count == build->node_room) {
        size_t room = build->node_room + build->node_room / 4 + 1024, size = sizeof *graph->dur;
        void *dur = arena_grow(build->arena, graph->dur, build->node_room * size, room * size, err);
        if (!dur)
            return false;
        graph->dur = dur;
        build->node_room = room;
    }
    *index = build->node_count++;
    graph->dur[*index] = dur_ns;
    return true;
}

bool graph_build_other(struct graph_build *build, struct work_node node, int64_t dur_ns,
                       uint32_t *index, struct err *err)
{
    struct rank_graph *graph = build->graph;
    if (build->other_count == build->other_room) {
        size_t room = build->other_room + build->other_room / 4 + 64, size = sizeof *graph->others;
        void *others =
            arena_grow(build->arena, graph->others, build->other_room * size, room * size, err);
        if (!others)
            return false;
        graph->others = others;
        build->other_room = room;
    }
    graph->others[build->other_count++] = node;
    return graph_build_node(build, dur_ns, index, err);
}

bool graph_build_edge(struct graph_build *build, uint32_t from, uint32_t to, int64_t lag_ns,
                      struct err *err)
{
    if (build->edge_count == build->edge_room) {
        size_t room = 2 * build->edge_room + 4096, size = sizeof *build->edges;
        void *edges =
            arena_grow(build->edge_arena, build->edges, build->edge_room * size, room * size, err);
        if (!edges)
            return false;
        build->edges = edges;
        build->edge_room = room;
    }
    lag_ns = lag_ns > INT32_MAX ? INT32_MAX : lag_ns < INT32_MIN ? INT32_MIN : lag_ns;
    build->edges[build->edge_count++] = (struct replay_edge){from, to, (int32_t)lag_ns};
    return true;
}

uint32_t graph_build_before(const struct graph_build *build, uint32_t call)
{
    return build->facts->device_count + 2 * call;
}

uint32_t graph_build_call(const struct graph_build *build, uint32_t call)
{
    return graph_build_before(build, call) + 1;
}

int64_t graph_build_launched_ns(const struct graph_build *build, uint32_t device)
{
    uint32_t launch = build->facts->devices[device].launch;
    return launch == FACTS_NONE
               ? INT64_MIN
               : build->facts->trace->begin_ns[build->facts->launches[launch].event];
}

bool graph_build_sort(const struct graph_build *build, struct keyed *items, uint32_t count,
                      struct err *err)
{
    struct arena arena;
    arena_init(&arena, build->facts->budget);
    struct keyed *other = arena_room(&arena, (size_t)count + 1, sizeof *other, err);
    if (other)
        sort_keyed(items, other, count);
    arena_free(&arena);
    return other != NULL;
}

// --- streams ------------------------------------------------------------------------------------

static bool list_streams(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    uint32_t tracks = facts->trace->track_count, count = facts->device_count;
    uint32_t *last = arena_room(build->scratch, (size_t)tracks + 1, sizeof *last, err);
    build->previous = arena_room(build->scratch, (size_t)count + 1, sizeof(uint32_t), err);
    build->by_end = arena_room(build->scratch, (size_t)count + 1, sizeof *build->by_end, err);
    if (!last || !build->previous || !build->by_end)
        return false;
    for (uint32_t t = 0; t < tracks; t++)
        last[t] = FACTS_NONE;
    for (uint32_t d = 0; d < count; d++) {
        build->previous[d] = last[facts->devices[d].track];
        last[facts->devices[d].track] = d;
        build->by_end[d] = (struct keyed){facts->devices[d].end_ns, d, 0};
    }
    return graph_build_sort(build, build->by_end, count, err);
}

uint32_t graph_build_ended(const struct graph_build *build, int64_t time_ns)
{
    return count_upto_i64(FIRST_OF(build->by_end, key), build->facts->device_count,
                          sizeof *build->by_end, time_ns);
}

uint32_t graph_build_done(const struct graph_build *build, uint32_t but_track, int64_t launched_ns,
                          int64_t ended_ns)
{
    enum { MOST_BACK = 256 };
    uint32_t ended = graph_build_ended(build, ended_ns);
    for (uint32_t back = 0; ended > 0 && back < MOST_BACK; back++, ended--) {
        uint32_t device = build->by_end[ended - 1].a;
        if (build->facts->devices[device].track != but_track &&
            graph_build_launched_ns(build, device) < launched_ns)
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

// Assumed launch latency where fewer than LEAST_SAMPLES launches went to a free stream, so that the
// recording does not show it.
#define USUAL_LAUNCH_NS 5000
#define LEAST_SAMPLES   8

static bool learn_from(struct graph_build *build, struct arena *arena, struct err *err)
{
    const struct facts *facts = build->facts;
    int64_t *launch_ns = arena_room(arena, facts->device_count, sizeof(int64_t), err);
    int64_t *gap_ns = arena_room(arena, facts->device_count, sizeof(int64_t), err);
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
            least_of(launch_ns, launches, arena, &build->launch_ns, err)) &&
           least_of(gap_ns, gaps, arena, &build->gap_ns, err);
}

static bool learn_delays(struct graph_build *build, struct err *err)
{
    struct arena arena;
    arena_init(&arena, build->facts->budget);
    bool ok = learn_from(build, &arena, err);
    arena_free(&arena);
    return ok;
}

// --- nodes --------------------------------------------------------------------------------------

// For a node that is not a device event: its call, graph->call_count for all others.
static uint32_t call_of(const struct facts *facts, const struct rank_graph *graph, uint32_t node)
{
    uint32_t call = (node - facts->device_count) / 2;
    return call < graph->call_count ? call : graph->call_count;
}

static const struct work_node *other_of(const struct facts *facts, const struct rank_graph *graph,
                                        uint32_t node)
{
    return &graph->others[node - facts->device_count - 2 * graph->call_count];
}

enum work_kind rank_graph_kind(const struct facts *facts, const struct rank_graph *graph,
                               uint32_t node)
{
    if (node < facts->device_count)
        return WORK_DEVICE;
    if (call_of(facts, graph, node) == graph->call_count)
        return (enum work_kind)other_of(facts, graph, node)->kind;
    if ((node - facts->device_count) % 2)
        return WORK_CALL;
    uint32_t call = (node - facts->device_count) / 2;
    uint32_t at = count_below_u32(graph->leads, graph->lead_count, sizeof *graph->leads, call);
    return at < graph->lead_count && graph->leads[at] == call ? WORK_LEAD : WORK_HOST;
}

struct work_node rank_graph_node(const struct facts *facts, const struct rank_graph *graph,
                                 uint32_t node)
{
    enum work_kind kind = rank_graph_kind(facts, graph, node);
    if (kind == WORK_DEVICE)
        return graph_build_work(node, facts->devices[node].track, kind);
    uint32_t call = call_of(facts, graph, node);
    if (call == graph->call_count)
        return *other_of(facts, graph, node);
    uint32_t event = graph->calls[call];
    return graph_build_work(event, track_of_event(facts->trace, event), kind);
}

int64_t rank_graph_begin(const struct facts *facts, const struct rank_graph *graph, uint32_t node)
{
    if (node < facts->device_count)
        return facts->devices[node].begin_ns;
    uint32_t call = call_of(facts, graph, node);
    switch (rank_graph_kind(facts, graph, node)) {
    case WORK_HOST: return facts->trace->begin_ns[graph->calls[call]] - graph->dur[node];
    case WORK_CALL: return facts->trace->begin_ns[graph->calls[call]];
    case WORK_UNRECORDED:
        return facts->devices[other_of(facts, graph, node)->event].begin_ns - graph->dur[node];
    case WORK_DEVICE:
    case WORK_LEAD: break;
    }
    return graph->begin_ns;
}

// --- steps --------------------------------------------------------------------------------------

int64_t rank_graph_at(const struct work_border *border, const int64_t *dur, const int64_t *end)
{
    if (border->node == REPLAY_NONE)
        return border->after_ns;
    return end[border->node] - (border->at_start ? dur[border->node] : 0) + border->after_ns;
}

// The latest end of a device event up to a time; of those on the main stream, if one ends there.
static struct work_border border_at(const struct graph_build *build, int64_t time_ns)
{
    enum { MOST_EQUAL = 256 };
    const struct facts *facts = build->facts;
    uint32_t ended = graph_build_ended(build, time_ns);
    if (ended == 0)
        return (struct work_border){REPLAY_NONE, false, time_ns - build->graph->begin_ns};
    const struct keyed *last = &build->by_end[ended - 1], *chosen = last;
    for (uint32_t back = 1; back < MOST_EQUAL && back < ended && last[-(int)back].key == last->key;
         back++)
        if (facts->devices[last[-(int)back].a].track == facts->main_track)
            chosen = &last[-(int)back];
    if (facts->devices[last->a].track == facts->main_track)
        chosen = last;
    return (struct work_border){chosen->a, false, time_ns - chosen->key};
}

// A step that nothing ends before starts with its first device event.
static struct work_border begin_at(const struct graph_build *build, int64_t time_ns)
{
    const struct facts *facts = build->facts;
    struct work_border border = border_at(build, time_ns);
    if (border.node != REPLAY_NONE && border.after_ns == 0)
        return border;
    uint32_t at = facts_devices_before(facts, time_ns);
    if (at < facts->device_count && facts->devices[at].begin_ns == time_ns)
        return (struct work_border){at, true, 0};
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
            (struct work_step){s, begin_at(build, step->begin_ns), border_at(build, step->end_ns)};
    }
    return true;
}

// --- all ----------------------------------------------------------------------------------------

// Room for all nodes but the few of what was not recorded, and the calls' events.
static bool make_room(struct graph_build *build, struct err *err)
{
    struct rank_graph *graph = build->graph;
    size_t devices = build->facts->device_count, calls = build->call_count;
    if (2 * (devices + calls) >= REPLAY_NONE) // a device event may have one for what came before it
        return err_set(err, ERR_LIMIT, "%zu device events and %zu calls are too many to replay",
                       devices, calls);
    build->node_room = devices + 2 * calls + 1024;
    graph->dur = arena_room(build->arena, build->node_room, sizeof *graph->dur, err);
    graph->calls = arena_room(build->arena, calls + 1, sizeof *graph->calls, err);
    graph->call_count = build->call_count;
    for (size_t c = 0; graph->calls && c < calls; c++)
        graph->calls[c] = build->calls[c].event;
    size_t threads = build->facts->trace->track_count;
    graph->leads = arena_room(build->arena, threads + 1, sizeof *graph->leads, err);
    return graph->dur && graph->calls && graph->leads;
}

static bool add_device_nodes(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    uint32_t node;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        int64_t dur_ns = device->end_ns - device->begin_ns;
        build->graph->device_ns += dur_ns;
        if (!graph_build_node(build, dur_ns, &node, err))
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
    if (!stream_waits_make(build->facts, &build->traits, build->scratch, &build->waits, err) ||
        !list_streams(build, err) || !learn_delays(build, err) || !graph_build_calls(build, err) ||
        !graph_build_waits(build, err) || !graph_build_queue(build, err))
        return false;
    find_begin(build);
    return make_room(build, err) && add_device_nodes(build, err) && graph_build_hosts(build, err) &&
           graph_build_devices(build, err) && place_steps(build, err);
}

static bool fill_apart(struct graph_build *build, struct err *err)
{
    struct arena scratch;
    if (!host_traits_make(&build->traits, build->facts->trace, build->facts->budget, err))
        return false;
    arena_init(&scratch, build->facts->budget);
    build->scratch = &scratch;
    bool ok = fill(build, err);
    arena_free(&scratch);
    host_traits_free(&build->traits);
    return ok;
}

static bool make(struct graph_build *build, struct err *err)
{
    struct arena edge_arena;
    struct rank_graph *graph = build->graph;
    *graph = (struct rank_graph){0};
    arena_init(&edge_arena, build->facts->budget);
    build->edge_arena = &edge_arena;
    bool ok = fill_apart(build, err) &&
              replay_graph_make(build->edges, build->edge_count, build->node_count,
                                build->made_edges, &graph->graph, err) &&
              replay_fits(&graph->graph, graph->dur, err);
    arena_free(&edge_arena);
    return ok;
}

// Whether the unchanged replay misses the steps by more than a thousandth of their time.
static bool misses_steps(const struct graph_build *build, bool *misses, struct err *err)
{
    const struct rank_graph *graph = build->graph;
    struct arena scratch;
    arena_init(&scratch, build->facts->budget);
    int64_t *end = arena_room(&scratch, (size_t)graph->graph.node_count + 1, sizeof *end, err);
    int64_t measured_ns = 0, missed_ns = 0;
    if (end)
        replay_run(&graph->graph, graph->dur, end);
    for (uint32_t s = 0; end && s < graph->step_count; s++) {
        const struct step *step = &build->facts->steps[graph->steps[s].step];
        int64_t replayed_ns = rank_graph_at(&graph->steps[s].end, graph->dur, end) -
                              rank_graph_at(&graph->steps[s].begin, graph->dur, end);
        int64_t length_ns = step->end_ns - step->begin_ns;
        measured_ns += length_ns;
        missed_ns += replayed_ns > length_ns ? replayed_ns - length_ns : length_ns - replayed_ns;
    }
    arena_free(&scratch);
    *misses = missed_ns > measured_ns / 1000;
    return end != NULL;
}

bool rank_graph_make(const struct facts *facts, struct arena *arena, struct arena *edges,
                     struct rank_graph *graph, struct err *err)
{
    struct graph_build build = {.facts = facts,
                                .graph = graph,
                                .arena = arena,
                                .made_edges = edges,
                                .may_wait_silently = true};
    bool misses = false;
    if (!make(&build, err) || (build.silent_waits && !misses_steps(&build, &misses, err)))
        return false;
    if (!misses)
        return true;
    build =
        (struct graph_build){.facts = facts, .graph = graph, .arena = arena, .made_edges = edges};
    return make(&build, err);
}
