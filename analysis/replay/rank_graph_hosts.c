// SPDX-License-Identifier: Apache-2.0
// A thread's calls in order, and between them what it does itself. A call that waits for a device
// returns after what it waited for; a thread continues after the one that handed its work over.
#include "analysis/replay/rank_graph_build.h"

#include "ingest/base/search.h"

// A thread hands over to another once that one makes at least this many calls in a row.
#define HANDED_CALLS 4
// Shorter silence of a thread says nothing.
#define SILENT_NS 1000000
// Clocks of host and device agree to about that.
#define CLOCK_NS 2000

// --- calls --------------------------------------------------------------------------------------

static bool counts(struct graph_build *build, uint32_t event, uint32_t *next_launch)
{
    const struct facts *facts = build->facts;
    while (*next_launch < facts->launch_count && facts->launches[*next_launch].event < event)
        ++*next_launch;
    if (*next_launch < facts->launch_count && facts->launches[*next_launch].event == event)
        return true;
    return event_kind_is_launch((enum event_kind)facts->trace->kind[event]) &&
           host_traits_of(&build->traits, event) >> HOST_SYNC & 1;
}

static uint32_t list_calls(struct graph_build *build, struct keyed *found)
{
    const struct trace *trace = build->facts->trace;
    uint32_t count = 0, next_launch = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        for (uint32_t i = 0; trace->tracks[t].family == TRACK_HOST && i < trace->tracks[t].count;
             i++) {
            uint32_t event = trace->tracks[t].first + i;
            if (!counts(build, event, &next_launch))
                continue;
            if (found)
                found[count] = (struct keyed){trace->begin_ns[event], event, t};
            count++;
        }
    return count;
}

static void fill_call(struct graph_build *build, const struct keyed *found, struct host_call *call)
{
    const struct facts *facts = build->facts;
    unsigned traits = host_traits_of(&build->traits, found->a);
    *call = (struct host_call){.begin_ns = found->key,
                               .end_ns = facts_event_end(facts->trace, found->a),
                               .event = found->a,
                               .track = found->b,
                               .launch = FACTS_NONE,
                               .synchronizes = traits >> HOST_SYNC & 1,
                               .of_all_streams = traits >> HOST_SYNC_ALL & 1};
    uint32_t low = 0, high = facts->launch_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->launches[middle].event < found->a)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < facts->launch_count && facts->launches[low].event == found->a)
        call->launch = low;
}

// A call ends where the next one of its thread starts, if not before.
static bool cut_calls(struct graph_build *build, struct err *err)
{
    uint32_t tracks = build->facts->trace->track_count;
    int64_t *next_ns = arena_room(build->scratch, (size_t)tracks + 1, sizeof *next_ns, err);
    if (!next_ns)
        return false;
    for (uint32_t t = 0; t < tracks; t++)
        next_ns[t] = INT64_MAX;
    for (uint32_t c = build->call_count; c-- > 0;) {
        struct host_call *call = &build->calls[c];
        call->end_ns = call->end_ns < next_ns[call->track] ? call->end_ns : next_ns[call->track];
        next_ns[call->track] = call->begin_ns;
        if (call->launch != FACTS_NONE)
            build->launch_call[call->launch] = c;
    }
    return true;
}

bool graph_build_calls(struct graph_build *build, struct err *err)
{
    uint32_t count = list_calls(build, NULL), launches = build->facts->launch_count;
    struct arena arena;
    arena_init(&arena, build->facts->budget);
    struct keyed *found = arena_room(&arena, (size_t)count + 1, sizeof *found, err);
    build->calls = arena_room(build->scratch, (size_t)count + 1, sizeof *build->calls, err);
    build->launch_call = arena_array(build->scratch, (size_t)launches + 1, sizeof(uint32_t), err);
    bool ok = found && build->calls && build->launch_call;
    if (ok)
        list_calls(build, found);
    ok = ok && graph_build_sort(build, found, count, err);
    for (uint32_t c = 0; ok && c < count; c++) {
        fill_call(build, &found[c], &build->calls[c]);
        build->has_synchronizing = build->has_synchronizing || build->calls[c].synchronizes;
    }
    build->call_count = count;
    arena_free(&arena);
    return ok && cut_calls(build, err);
}

// --- waiting for a device -----------------------------------------------------------------------

// The device event of a launch that ends last.
static uint32_t last_of_launch(const struct graph_build *build, uint32_t launch)
{
    const struct device_event *devices = build->facts->devices;
    uint32_t last = build->facts->launches[launch].first;
    for (uint32_t d = last; d != FACTS_NONE; d = devices[d].next)
        last = devices[d].end_ns > devices[last].end_ns ? d : last;
    return last;
}

// From pageable memory the last piece is under way when the call returns: at most that part of the
// copy.
#define LAST_PIECE 16

// A copy that had ended when its call returned: the call is a blocking one, whatever its name.
static uint32_t awaited_copy(const struct graph_build *build, const struct host_call *call)
{
    if (call->launch == FACTS_NONE)
        return FACTS_NONE;
    uint32_t last = last_of_launch(build, call->launch);
    const struct device_event *device = &build->facts->devices[last];
    int64_t late_ns = (device->end_ns - device->begin_ns) / LAST_PIECE;
    late_ns = late_ns > CLOCK_NS ? late_ns : CLOCK_NS;
    bool within = device->end_ns <= call->end_ns + late_ns && device->begin_ns >= call->begin_ns;
    return device->class == CLASS_MEMORY && within ? last : FACTS_NONE;
}

static uint32_t awaited(const struct graph_build *build, const struct host_call *call)
{
    if (call->synchronizes && call->launch == FACTS_NONE)
        // What ended last within it, of all that was launched before.
        return graph_build_done(build, FACTS_NONE, call->begin_ns, call->end_ns + CLOCK_NS);
    return awaited_copy(build, call);
}

// --- nodes --------------------------------------------------------------------------------------

struct threads {
    uint32_t *last;   // per track: its last call, or FACTS_NONE
    uint32_t current; // the call before, of any thread
};

static uint32_t calls_in_a_row(const struct graph_build *build, uint32_t from)
{
    uint32_t count = 1;
    while (count < HANDED_CALLS && from + count < build->call_count &&
           build->calls[from + count].track == build->calls[from].track)
        count++;
    return count;
}

// Whether the call before, of another thread, ended a row of calls that this one continues.
static bool is_handed_over(const struct graph_build *build, uint32_t c)
{
    if (c == 0 || build->calls[c - 1].track == build->calls[c].track ||
        build->calls[c - 1].end_ns > build->calls[c].begin_ns)
        return false;
    return c < HANDED_CALLS || (calls_in_a_row(build, c) == HANDED_CALLS &&
                                calls_in_a_row(build, c - HANDED_CALLS) == HANDED_CALLS);
}

// When the thread's events resume, if it recorded nothing until near the end of a stretch before a
// call; INT64_MIN otherwise.
static int64_t silent_until(const struct graph_build *build, const struct host_call *call,
                            int64_t from_ns)
{
    const struct facts *facts = build->facts;
    const struct trace *trace = facts->trace;
    const struct track *track = &trace->tracks[call->track];
    int64_t length_ns = call->begin_ns - from_ns;
    uint32_t op = facts->op_parent[call->event];
    if (length_ns < SILENT_NS || (op != FACTS_NONE && trace->begin_ns[op] <= from_ns))
        return INT64_MIN;
    const int64_t *begin_ns = trace->begin_ns + track->first;
    uint32_t next = count_upto_i64(begin_ns, track->count, sizeof *begin_ns, from_ns);
    int64_t late_ns = call->begin_ns - length_ns / 10;
    while (next < track->count && begin_ns[next] < late_ns &&
           trace->kind[track->first + next] == EVENT_ANNOTATION)
        next++;
    bool is_late = next < track->count && begin_ns[next] >= late_ns;
    return is_late ? begin_ns[next] : INT64_MIN;
}

// Sum of the durations, within a stretch that ends with this event, of all that ended in it.
static int64_t busy_ns(const struct graph_build *build, uint32_t last, int64_t from_ns)
{
    const struct device_event *devices = build->facts->devices;
    uint32_t at = count_upto_i64(FIRST_OF(build->by_end, key), build->facts->device_count,
                                 sizeof *build->by_end, devices[last].end_ns);
    int64_t sum_ns = 0;
    for (; at > 0 && build->by_end[at - 1].key > from_ns; at--) {
        int64_t begin_ns = devices[build->by_end[at - 1].a].begin_ns;
        sum_ns += build->by_end[at - 1].key - (begin_ns > from_ns ? begin_ns : from_ns);
    }
    return sum_ns;
}

// In a recording without any synchronizing call, a thread that records nothing while its device
// works through what it launched waits for that, until it continues. FACTS_NONE: it does not.
static uint32_t awaited_silently(const struct graph_build *build, const struct host_call *call,
                                 int64_t from_ns, int64_t *until_ns)
{
    const struct facts *facts = build->facts;
    if (!build->may_wait_silently || build->has_synchronizing || facts->frame_state)
        return FACTS_NONE;
    *until_ns = silent_until(build, call, from_ns);
    if (*until_ns == INT64_MIN)
        return FACTS_NONE;
    int64_t length_ns = *until_ns - from_ns;
    uint32_t done = graph_build_done(build, FACTS_NONE, from_ns, *until_ns);
    bool late = done != FACTS_NONE && facts->devices[done].end_ns >= *until_ns - length_ns / 10;
    return late && busy_ns(build, done, from_ns) >= length_ns / 10 * 8 ? done : FACTS_NONE;
}

// The node of what the thread does before the call, after its last call or that of another thread.
static bool add_before(struct graph_build *build, struct threads *threads, uint32_t c,
                       struct err *err)
{
    struct host_call *call = &build->calls[c];
    uint32_t after = is_handed_over(build, c) ? c - 1 : threads->last[call->track];
    int64_t from_ns = after == FACTS_NONE ? build->graph->begin_ns : build->calls[after].end_ns;
    int64_t until_ns = from_ns;
    uint32_t device =
        after == FACTS_NONE ? FACTS_NONE : awaited_silently(build, call, from_ns, &until_ns);
    build->silent_waits += device != FACTS_NONE;
    int64_t own_ns = call->begin_ns - (device == FACTS_NONE ? from_ns : until_ns);
    uint32_t before;
    if (!graph_build_node(build, own_ns, &before, err))
        return false;
    assert(before == graph_build_before(build, c));
    if (device != FACTS_NONE &&
        !graph_build_edge(build, device, before, until_ns - build->facts->devices[device].end_ns,
                          err))
        return false;
    if (after == FACTS_NONE)
        build->graph->leads[build->graph->lead_count++] = c;
    return after == FACTS_NONE ||
           graph_build_edge(build, graph_build_call(build, after), before, 0, err);
}

// What a call waits for, how long after that it ends, and what it takes by itself.
struct own_time {
    uint32_t device; // FACTS_NONE: it waits for nothing
    int64_t own_ns, lag_ns;
};

// A call that found its device at work ends a little after that; of others all is their own time.
static struct own_time own_time(const struct graph_build *build, uint32_t c)
{
    const struct host_call *call = &build->calls[c];
    struct own_time own = {awaited(build, call), call->end_ns - call->begin_ns, 0};
    const struct device_event *devices = build->facts->devices;
    if (own.device != FACTS_NONE && devices[own.device].end_ns > call->begin_ns)
        return (struct own_time){own.device, 0, call->end_ns - devices[own.device].end_ns};
    if (own.device != FACTS_NONE)
        return own;
    own.device = graph_build_slot(build, c, &own.own_ns);
    if (own.device == FACTS_NONE)
        return own;
    int64_t late_ns = call->end_ns - own.own_ns - devices[own.device].end_ns;
    bool waited = own.own_ns < call->end_ns - call->begin_ns;
    own.lag_ns = waited ? late_ns : -own.own_ns;
    return own;
}

static bool is_seen(const uint32_t *tracks, uint32_t count, uint32_t track)
{
    uint32_t t = 0;
    while (t < count && tracks[t] != track)
        t++;
    return t < count;
}

// A call that waits for all streams: after a change the last work of another one may end last.
static bool add_other_streams(struct graph_build *build, const struct host_call *call,
                              uint32_t node, const struct own_time *own, struct err *err)
{
    enum { MOST_BACK = 256, MOST_STREAMS = 16 };
    const struct device_event *devices = build->facts->devices;
    uint32_t tracks[MOST_STREAMS] = {devices[own->device].track}, seen = 1;
    uint32_t ended = graph_build_ended(build, call->end_ns + CLOCK_NS);
    for (uint32_t back = 0; ended > 0 && back < MOST_BACK && seen < MOST_STREAMS; back++, ended--) {
        uint32_t device = build->by_end[ended - 1].a, track = devices[device].track;
        if (is_seen(tracks, seen, track) ||
            graph_build_launched_ns(build, device) >= call->begin_ns)
            continue;
        tracks[seen++] = track;
        if (!graph_build_edge(build, device, node, own->lag_ns, err))
            return false;
    }
    return true;
}

static bool add_call(struct graph_build *build, uint32_t c, struct err *err)
{
    const struct host_call *call = &build->calls[c];
    const struct own_time own = own_time(build, c);
    bool of_all = own.device != FACTS_NONE && call->of_all_streams;
    uint32_t node;
    return graph_build_node(build, own.own_ns, &node, err) &&
           graph_build_edge(build, node - 1, node, 0, err) &&
           (own.device == FACTS_NONE ||
            graph_build_edge(build, own.device, node, own.lag_ns, err)) &&
           (!of_all || add_other_streams(build, call, node, &own, err));
}

bool graph_build_hosts(struct graph_build *build, struct err *err)
{
    uint32_t tracks = build->facts->trace->track_count;
    struct threads threads = {
        .last = arena_room(build->scratch, (size_t)tracks + 1, sizeof(uint32_t), err)};
    if (!threads.last)
        return false;
    for (uint32_t t = 0; t < tracks; t++)
        threads.last[t] = FACTS_NONE;
    for (uint32_t c = 0; c < build->call_count; c++) {
        if (!add_before(build, &threads, c, err) || !add_call(build, c, err))
            return false;
        threads.last[build->calls[c].track] = c;
    }
    return true;
}
