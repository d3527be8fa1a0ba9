// SPDX-License-Identifier: Apache-2.0
// Splits the time before the host launched the next event into slices by what its thread did; the
// cause with the most time is the gap's.
#include "analysis/facts/gap_judge.h"

#include "analysis/facts/awaited_copies.h"
#include "analysis/facts/cold_starts.h"
#include "analysis/stats/sort.h"
#include "analysis/facts/track_pairs.h"
#include "ingest/base/search.h"

// Causes of the two kinds of overhead.
static const enum idle_cause aside[2] = {IDLE_PROFILER, IDLE_COLD_START};

static bool find_computes(struct gap_judge *judge, struct err *err)
{
    const struct facts *facts = judge->facts;
    uint32_t count = facts->launch_count, next = count;
    judge->computes = arena_room(&judge->arena, (size_t)count + 1, sizeof *judge->computes, err);
    if (!judge->computes)
        return false;
    judge->computes[count] = count;
    for (uint32_t l = count; l-- > 0;) {
        next = facts->devices[facts->launches[l].first].class == CLASS_COMPUTE ? l : next;
        judge->computes[l] = next;
    }
    return true;
}

bool gap_judge_init(struct gap_judge *judge, const struct facts *facts, struct err *err)
{
    const struct trace *trace = facts->trace;
    *judge = (struct gap_judge){.facts = facts};
    struct arena *arena = &judge->arena;
    arena_init(arena, facts->budget);
    judge->views = arena_array(arena, trace->track_count, sizeof *judge->views, err);
    judge->pending_ns = arena_room(arena, (size_t)facts->device_count + 1, sizeof(int64_t), err);
    return judge->views && judge->pending_ns && find_computes(judge, err) &&
           host_traits_make(&judge->traits, trace, facts->budget, err) &&
           awaited_copies_find(facts, arena, &judge->traits, err) &&
           cold_starts_find(facts, arena, &judge->traits, err) &&
           stream_waits_make(facts, &judge->traits, arena, &judge->waits, err) &&
           pending_make(facts, &judge->waits, arena, &judge->pending, err) &&
           overheads_make(trace, OVERHEAD_PROFILER, arena, &judge->overheads[0], err) &&
           overheads_make(trace, OVERHEAD_LOADING, arena, &judge->overheads[1], err) &&
           track_pairs_make(trace, TRACK_PYTHON, arena, &judge->python_of, err) &&
           track_pairs_make(trace, TRACK_OTHER, arena, &judge->others_of, err);
}

static void free_views(struct gap_judge *judge)
{
    for (uint32_t t = 0; judge->views && t < judge->facts->trace->track_count; t++) {
        if (!judge->views[t])
            continue;
        host_view_free(judge->views[t]);
        budget_free(judge->facts->budget, judge->views[t], sizeof *judge->views[t]);
        judge->views[t] = NULL;
    }
}

void gap_judge_start(struct gap_judge *judge, const struct gap_scope *scope)
{
    free_views(judge);
    judge->overhead_at[0] = judge->overhead_at[1] = judge->merged_at = 0;
    judge->merged = scope->merged;
    struct pending first = {PENDING_UNKNOWN, false};
    judge->pending_ns[scope->count] = PENDING_UNKNOWN;
    for (uint32_t i = scope->count; i-- > 0;) {
        const struct pending *pending = &judge->pending[scope->list ? scope->list[i] : i];
        first = pending->since_ns < first.since_ns ? *pending : first;
        judge->pending_ns[i] = first.held ? PENDING_UNKNOWN : first.since_ns;
    }
}

void gap_judge_free(struct gap_judge *judge)
{
    free_views(judge);
    host_traits_free(&judge->traits);
    budget_free(judge->facts->budget, judge->slices, judge->slice_cap * sizeof *judge->slices);
    arena_free(&judge->arena);
}

// The view of the thread that made a launch.
static struct host_view *view_of(struct gap_judge *judge, uint32_t launch, struct err *err)
{
    const struct trace *trace = judge->facts->trace;
    uint32_t track = track_of_event(trace, judge->facts->launches[launch].event);
    if (judge->views[track])
        return judge->views[track];
    struct host_view *view = budget_alloc(judge->facts->budget, sizeof *view, err);
    if (!view)
        return NULL;
    uint32_t python = judge->python_of[track], others = judge->others_of[track];
    struct host_tracks tracks = {.calls = &trace->tracks[track],
                                 .frames = python == FACTS_NONE ? NULL : &trace->tracks[python],
                                 .system = others == FACTS_NONE ? NULL : &trace->tracks[others]};
    host_view_init(view, &judge->traits, tracks);
    judge->views[track] = view;
    return view;
}

// Adds a piece to the slices, merging it with the previous one if equal.
static bool add_slice(struct gap_judge *judge, enum idle_cause cause, uint32_t event, int64_t ns,
                      struct err *err)
{
    struct gap_slice *last = judge->slice_count ? &judge->slices[judge->slice_count - 1] : NULL;
    if (last && last->cause == (uint8_t)cause && last->event == event) {
        last->ns += ns;
        return true;
    }
    struct gap_slice *slices = budget_room(judge->facts->budget, judge->slices, &judge->slice_cap,
                                           judge->slice_count + 1, sizeof *slices, err);
    if (!slices)
        return false;
    judge->slices = slices;
    judge->slices[judge->slice_count++] = (struct gap_slice){ns, event, (uint8_t)cause};
    return true;
}

// The current overhead of a kind, FACTS_NONE without; lowers *until_ns to where that changes.
static uint32_t overhead_at(struct gap_judge *judge, int kind, int64_t now_ns, int64_t *until_ns)
{
    const struct overheads *all = &judge->overheads[kind];
    uint32_t *at = &judge->overhead_at[kind];
    while (*at < all->count && all->items[*at].end_ns <= now_ns)
        (*at)++;
    if (*at == all->count)
        return FACTS_NONE;
    const struct overhead *next = &all->items[*at];
    bool runs = next->begin_ns <= now_ns;
    int64_t change_ns = runs ? next->end_ns : next->begin_ns;
    if (change_ns < *until_ns)
        *until_ns = change_ns;
    return runs ? next->event : FACTS_NONE;
}

// Recorded overhead takes precedence over the cause and event that would otherwise apply.
static void set_aside(struct gap_judge *judge, int64_t now_ns, struct gap_slice *slice,
                      int64_t *until_ns)
{
    for (int kind = 0; kind < 2; kind++) {
        uint32_t overhead = overhead_at(judge, kind, now_ns, until_ns);
        if (overhead == FACTS_NONE)
            continue;
        slice->cause = (uint8_t)aside[kind];
        slice->event = overhead;
    }
}

// Adds [begin_ns, end_ns) with one cause and event, except for the part that is overhead.
static bool add_stretch(struct gap_judge *judge, int64_t begin_ns, int64_t end_ns,
                        enum idle_cause cause, uint32_t event, struct err *err)
{
    for (int64_t now_ns = begin_ns; now_ns < end_ns;) {
        int64_t until_ns = end_ns;
        struct gap_slice slice = {0, event, (uint8_t)cause};
        set_aside(judge, now_ns, &slice, &until_ns);
        if (!add_slice(judge, (enum idle_cause)slice.cause, slice.event, until_ns - now_ns, err))
            return false;
        now_ns = until_ns;
    }
    return true;
}

// Whether the host event launched a compute kernel, itself or in anything it called.
static bool launches_work(const struct gap_judge *judge, uint32_t event)
{
    const struct facts *facts = judge->facts;
    const struct trace *trace = facts->trace;
    const struct track *track = &trace->tracks[track_of_event(trace, event)];
    uint32_t before = count_below_u32(FIRST_OF(facts->launches, event), facts->launch_count,
                                      sizeof *facts->launches, event);
    uint32_t compute = judge->computes[before];
    if (compute == facts->launch_count)
        return false;
    uint32_t launch = facts->launches[compute].event;
    return launch < track->first + track->count &&
           trace->begin_ns[launch] < facts_event_end(trace, event);
}

// What a loader does itself; generators that yield results enclose the model's forward.
static bool loads_data(const struct gap_judge *judge, const struct host_moment *moment)
{
    const struct trace *trace = judge->facts->trace;
    uint32_t loader = moment->open[HOST_LOADING];
    uint32_t module = moment->open[HOST_MODULE], op = moment->open[HOST_OPERATOR];
    if (loader == FACTS_NONE)
        return false;
    int64_t begin_ns = trace->begin_ns[loader];
    return (module == FACTS_NONE || trace->begin_ns[module] < begin_ns) &&
           (op == FACTS_NONE || trace->begin_ns[op] < begin_ns || !launches_work(judge, op));
}

// What a thread was doing, as a cause. A synchronizing call counts only if it started before the
// gap: a later one finds nothing to wait for.
static enum idle_cause cause_of(const struct gap_judge *judge, const struct host_moment *moment,
                                int64_t gap_begin_ns, uint32_t *event)
{
    static const struct {
        enum host_trait trait;
        enum idle_cause cause;
    } marked[] = {{HOST_LOADING, IDLE_DATA_LOADING},
                  {HOST_COLD, IDLE_COLD_START},
                  {HOST_COMPILE, IDLE_HOST_COMPUTE},
                  {HOST_ALLOCATOR, IDLE_ALLOCATOR},
                  {HOST_SYNC, IDLE_SYNC}};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        *event = moment->open[marked[i].trait];
        bool counts = *event != FACTS_NONE;
        if (marked[i].trait == HOST_LOADING)
            counts = loads_data(judge, moment);
        else if (counts && marked[i].trait == HOST_SYNC)
            counts = judge->facts->trace->begin_ns[*event] < gap_begin_ns;
        if (counts)
            return marked[i].cause;
    }
    *event = moment->event;
    return IDLE_HOST_COMPUTE;
}

// The state of the launching thread; if that is bare, of the other one.
static bool look(struct host_view *const views[2], int64_t now_ns, struct host_moment *moment,
                 struct err *err)
{
    if (!host_view_at(views[0], now_ns, moment, err))
        return false;
    if (!moment->bare || !views[1])
        return true;
    struct host_moment other;
    if (!host_view_at(views[1], now_ns, &other, err))
        return false;
    int64_t until_ns = moment->until_ns < other.until_ns ? moment->until_ns : other.until_ns;
    if (!other.bare)
        *moment = other;
    moment->until_ns = until_ns;
    return true;
}

// Slices of the gap up to end_ns, by what the host did.
static bool walk_host(struct gap_judge *judge, const struct gap *gap, int64_t end_ns,
                      struct host_view *const views[2], struct err *err)
{
    for (int64_t now_ns = gap->begin_ns; now_ns < end_ns;) {
        struct host_moment moment;
        if (!look(views, now_ns, &moment, err))
            return false;
        int64_t until_ns = moment.until_ns < end_ns ? moment.until_ns : end_ns;
        uint32_t event;
        enum idle_cause cause = cause_of(judge, &moment, gap->begin_ns, &event);
        bool added = cause == IDLE_HOST_COMPUTE
                         ? add_stretch(judge, now_ns, until_ns, cause, event, err)
                         : add_slice(judge, cause, event, until_ns - now_ns, err);
        if (!added)
            return false;
        now_ns = until_ns;
    }
    return true;
}

// Whether the event was first in its stream while the device worked on another stream until the gap
// started.
static bool stood_first(const struct facts *facts, const struct gap *gap, uint32_t previous,
                        int64_t launched_ns)
{
    const struct device_event *next = &facts->devices[gap->next];
    if (gap->before == FACTS_NONE || facts->devices[gap->before].track == next->track)
        return false;
    int64_t since_ns = launched_ns;
    if (previous != FACTS_NONE && facts->devices[previous].end_ns > since_ns)
        since_ns = facts->devices[previous].end_ns;
    return gap->begin_ns - since_ns >= IDLE_START_NS;
}

// The launch had returned when the gap started.
static bool judge_queued(struct gap_judge *judge, const struct gap *gap, uint32_t previous,
                         struct err *err)
{
    const struct facts *facts = judge->facts;
    const struct launch *its = &facts->launches[facts->devices[gap->next].launch];
    uint32_t launch = its->event;
    int64_t launched_ns = facts_event_end(facts->trace, launch);
    int64_t start_ns = IDLE_START_NS + ((int64_t)its->count - 1) * IDLE_NODE_NS;
    uint32_t event = stream_waits_find(&judge->waits, gap->next, previous);
    enum idle_cause cause = IDLE_UNKNOWN;
    if (event != FACTS_NONE) {
        cause = IDLE_EVENT_WAIT;
    } else if (gap->end_ns - launched_ns < start_ns &&
               gap->end_ns - gap->begin_ns > gap->begin_ns - launched_ns) {
        cause = IDLE_LAUNCH_OVERHEAD;
        event = launch;
    } else if (gap->end_ns - gap->begin_ns < IDLE_START_NS) {
        cause = stood_first(facts, gap, previous, launched_ns) ? IDLE_EVENT_WAIT : IDLE_DISPATCH;
    }
    return add_stretch(judge, gap->begin_ns, gap->end_ns, cause, event, err);
}

static int64_t within(const struct gap *gap, int64_t time_ns)
{
    if (time_ns < gap->begin_ns)
        return gap->begin_ns;
    return time_ns < gap->end_ns ? time_ns : gap->end_ns;
}

// The threads relevant for a gap: the one that launched the next event, and another one that
// launched the previous event.
static bool open_views(struct gap_judge *judge, const struct gap *gap, struct host_view *views[2],
                       struct err *err)
{
    const struct facts *facts = judge->facts;
    uint32_t other = gap->before == FACTS_NONE ? FACTS_NONE : facts->devices[gap->before].launch;
    views[0] = view_of(judge, facts->devices[gap->next].launch, err);
    views[1] = NULL;
    if (views[0] && other != FACTS_NONE)
        views[1] = view_of(judge, other, err);
    if (!views[0] || (other != FACTS_NONE && !views[1]))
        return false;
    if (views[1] == views[0])
        views[1] = NULL;
    return true;
}

// The launch had not returned when the gap started.
static bool judge_late(struct gap_judge *judge, const struct gap *gap, uint32_t previous,
                       struct err *err)
{
    const struct facts *facts = judge->facts;
    uint32_t event = facts->launches[facts->devices[gap->next].launch].event;
    struct host_view *views[2];
    if (!open_views(judge, gap, views, err))
        return false;
    int64_t begin_ns = within(gap, facts->trace->begin_ns[event]);
    int64_t end_ns = within(gap, facts_event_end(facts->trace, event));
    bool cold = host_traits_of(&judge->traits, event) >> HOST_COLD & 1;
    uint32_t wait = FACTS_NONE;
    if (gap->end_ns - end_ns >= IDLE_START_NS)
        wait = stream_waits_find(&judge->waits, gap->next, previous);
    bool waits = wait != FACTS_NONE;
    return walk_host(judge, gap, begin_ns, views, err) &&
           add_stretch(judge, begin_ns, end_ns, cold ? IDLE_COLD_START : IDLE_LAUNCH_OVERHEAD,
                       event, err) &&
           add_stretch(judge, end_ns, gap->end_ns, waits ? IDLE_EVENT_WAIT : IDLE_LAUNCH_OVERHEAD,
                       waits ? wait : event, err);
}

// Moves the time by which the host would have been ahead without the call it waited in.
static void blame_wait(int64_t sums_ns[IDLE_CAUSE_COUNT], int64_t waited_ns)
{
    static const enum idle_cause later[] = {IDLE_HOST_COMPUTE, IDLE_LAUNCH_OVERHEAD};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        int64_t moved_ns = sums_ns[later[i]] < waited_ns ? sums_ns[later[i]] : waited_ns;
        sums_ns[later[i]] -= moved_ns;
        sums_ns[IDLE_SYNC] += moved_ns;
        waited_ns -= moved_ns;
    }
}

static enum idle_cause weigh(const struct gap_judge *judge, int64_t gap_begin_ns)
{
    int64_t sums_ns[IDLE_CAUSE_COUNT] = {0}, waited_ns = 0;
    for (size_t i = 0; i < judge->slice_count; i++) {
        const struct gap_slice *slice = &judge->slices[i];
        sums_ns[slice->cause] += slice->ns;
        if (slice->cause != IDLE_SYNC)
            continue;
        int64_t here_ns = gap_begin_ns - judge->facts->trace->begin_ns[slice->event];
        waited_ns = here_ns > waited_ns ? here_ns : waited_ns;
    }
    blame_wait(sums_ns, waited_ns);
    enum idle_cause most = IDLE_SYNC;
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++)
        if (sums_ns[c] > sums_ns[most])
            most = (enum idle_cause)c;
    return most;
}

// Slices of the cause, by event; order has room for twice as many.
static size_t gather(const struct gap_judge *judge, enum idle_cause cause, struct keyed *order)
{
    size_t count = 0;
    for (size_t i = 0; i < judge->slice_count; i++)
        if (judge->slices[i].cause == (uint8_t)cause)
            order[count++] = (struct keyed){judge->slices[i].event, (uint32_t)i, 0};
    sort_keyed(order, order + count, count);
    return count;
}

static uint32_t longest_event(const struct gap_judge *judge, const struct keyed *order,
                              size_t count)
{
    uint32_t best = FACTS_NONE;
    int64_t best_ns = 0, sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && order[i - 1].key == order[i].key;
        sum_ns = judge->slices[order[i].a].ns + (same ? sum_ns : 0);
        if (sum_ns <= best_ns)
            continue;
        best_ns = sum_ns;
        best = (uint32_t)order[i].key;
    }
    return best;
}

// The event with most time of the cause.
static bool pick_event(const struct gap_judge *judge, enum idle_cause cause, uint32_t *event,
                       struct err *err)
{
    if (judge->slice_count == 1) {
        *event = judge->slices[0].event;
        return true;
    }
    size_t size = 2 * judge->slice_count * sizeof(struct keyed);
    struct keyed *order = budget_alloc(judge->facts->budget, size, err);
    if (!order)
        return false;
    *event = longest_event(judge, order, gather(judge, cause, order));
    budget_free(judge->facts->budget, order, size);
    return true;
}

static bool slice_up(struct gap_judge *judge, const struct gap *gap, uint32_t previous,
                     struct err *err)
{
    const struct facts *facts = judge->facts;
    uint32_t launch = gap->next == FACTS_NONE ? FACTS_NONE : facts->devices[gap->next].launch;
    if (gap->begin_ns >= gap->end_ns)
        return true;
    if (launch == FACTS_NONE)
        return add_stretch(judge, gap->begin_ns, gap->end_ns, IDLE_UNKNOWN, FACTS_NONE, err);
    uint32_t event = facts->launches[launch].event;
    if (facts->launches[launch].first != gap->next)
        return add_stretch(judge, gap->begin_ns, gap->end_ns, IDLE_GRAPH_REPLAY, event, err);
    return facts_event_end(facts->trace, event) <= gap->begin_ns
               ? judge_queued(judge, gap, previous, err)
               : judge_late(judge, gap, previous, err);
}

// Since when something in the gap was pending that nothing recorded held up: everything launched
// before it had ended. The gap's end if that is no longer than a start takes.
static int64_t pending_from(const struct gap_judge *judge, const struct gap *gap, uint32_t position)
{
    int64_t since_ns = judge->pending_ns[position];
    int64_t from_ns = since_ns > gap->begin_ns ? since_ns : gap->begin_ns;
    return from_ns < gap->end_ns && gap->end_ns - from_ns > IDLE_START_NS ? from_ns : gap->end_ns;
}

// What is pending on one device may wait for another one. So most of the gap must be unrecorded for
// all of them together.
static bool all_unrecorded(struct gap_judge *judge, const struct gap *gap)
{
    const struct gap_list *all = judge->merged;
    int64_t ns = 0;
    while (judge->merged_at < all->count && all->gaps[judge->merged_at].end_ns <= gap->begin_ns)
        judge->merged_at++;
    for (uint32_t i = judge->merged_at; i < all->count; i++) {
        const struct gap *other = &all->gaps[i];
        if (other->begin_ns >= gap->end_ns)
            break;
        int64_t begin_ns = within(gap, other->begin_ns), end_ns = within(gap, other->end_ns);
        ns += other->cause == IDLE_UNRECORDED ? end_ns - begin_ns : 0;
    }
    return ns > (gap->end_ns - gap->begin_ns) / 2;
}

// The part of a gap in which something was pending. Code loading holds the device up, too.
static bool add_pending(struct gap_judge *judge, const struct gap *gap, int64_t from_ns,
                        struct err *err)
{
    bool seen = gap->next != FACTS_NONE && judge->facts->devices[gap->next].launch != FACTS_NONE;
    struct host_view *views[2];
    if (seen && from_ns < gap->end_ns && !open_views(judge, gap, views, err))
        return false;
    for (int64_t now_ns = from_ns; now_ns < gap->end_ns;) {
        struct host_moment moment = {.until_ns = gap->end_ns, .open[HOST_COLD] = FACTS_NONE};
        if (seen && !look(views, now_ns, &moment, err))
            return false;
        int64_t until_ns = moment.until_ns < gap->end_ns ? moment.until_ns : gap->end_ns;
        uint32_t cold = moment.open[HOST_COLD];
        if (!add_stretch(judge, now_ns, until_ns,
                         cold == FACTS_NONE ? IDLE_UNRECORDED : IDLE_COLD_START, cold, err))
            return false;
        now_ns = until_ns;
    }
    return true;
}

bool gap_judge_decide(struct gap_judge *judge, struct gap *gap, struct gap_place place,
                      struct err *err)
{
    struct gap before = *gap;
    before.end_ns = pending_from(judge, gap, place.position);
    if (judge->merged && before.end_ns < gap->end_ns && !all_unrecorded(judge, gap))
        before.end_ns = gap->end_ns;
    judge->slice_count = 0;
    if (!slice_up(judge, &before, place.previous, err) ||
        !add_pending(judge, gap, before.end_ns, err))
        return false;
    enum idle_cause cause = weigh(judge, gap->begin_ns);
    gap->cause = (uint8_t)cause;
    return pick_event(judge, cause, &gap->host_event, err);
}
