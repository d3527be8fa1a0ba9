// SPDX-License-Identifier: Apache-2.0
// Cuts the time in which the host had not launched the next event into slices by what its thread
// did; the cause with the most time is the gap's.
#include "analysis/gap_judge.h"

#include "analysis/sort.h"
#include "analysis/track_pairs.h"

#define FIRST_CAP 64

bool gap_judge_init(struct gap_judge *judge, const struct facts *facts, struct err *err)
{
    const struct trace *trace = facts->trace;
    *judge = (struct gap_judge){.facts = facts};
    arena_init(&judge->arena, facts->budget);
    judge->views = arena_array(&judge->arena, trace->track_count, sizeof *judge->views, err);
    return judge->views && host_traits_make(&judge->traits, trace, facts->budget, err) &&
           stream_waits_make(facts, &judge->traits, &judge->arena, &judge->waits, err) &&
           overheads_make(trace, &judge->arena, &judge->overheads, err) &&
           track_pairs_make(trace, TRACK_PYTHON, &judge->arena, &judge->python_of, err);
}

void gap_judge_restart(struct gap_judge *judge)
{
    for (uint32_t t = 0; judge->views && t < judge->facts->trace->track_count; t++) {
        if (!judge->views[t])
            continue;
        host_view_free(judge->views[t]);
        budget_free(judge->facts->budget, judge->views[t], sizeof *judge->views[t]);
        judge->views[t] = NULL;
    }
    judge->overhead_at = 0;
}

void gap_judge_free(struct gap_judge *judge)
{
    gap_judge_restart(judge);
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
    uint32_t python = judge->python_of[track];
    host_view_init(view, &judge->traits, &trace->tracks[track],
                   python == FACTS_NONE ? NULL : &trace->tracks[python]);
    judge->views[track] = view;
    return view;
}

// Adds a piece to the slices; it joins the one before when that says the same.
static bool add_slice(struct gap_judge *judge, enum idle_cause cause, uint32_t event, int64_t ns,
                      struct err *err)
{
    struct gap_slice *last = judge->slice_count ? &judge->slices[judge->slice_count - 1] : NULL;
    if (last && last->cause == (uint8_t)cause && last->event == event) {
        last->ns += ns;
        return true;
    }
    if (judge->slice_count == judge->slice_cap) {
        size_t old = judge->slice_cap, cap = old ? old * 2 : FIRST_CAP;
        struct gap_slice *grown = budget_realloc(judge->facts->budget, judge->slices,
                                                 old * sizeof *grown, cap * sizeof *grown, err);
        if (!grown)
            return false;
        judge->slices = grown;
        judge->slice_cap = cap;
    }
    judge->slices[judge->slice_count++] = (struct gap_slice){ns, event, (uint8_t)cause};
    return true;
}

// The profiler's overhead at the moment, FACTS_NONE without; lowers *until_ns to where that
// changes.
static uint32_t overhead_at(struct gap_judge *judge, int64_t now_ns, int64_t *until_ns)
{
    const struct overheads *all = &judge->overheads;
    while (judge->overhead_at < all->count && all->items[judge->overhead_at].end_ns <= now_ns)
        judge->overhead_at++;
    if (judge->overhead_at == all->count)
        return FACTS_NONE;
    const struct overhead *next = &all->items[judge->overhead_at];
    bool runs = next->begin_ns <= now_ns;
    int64_t change_ns = runs ? next->end_ns : next->begin_ns;
    if (change_ns < *until_ns)
        *until_ns = change_ns;
    return runs ? next->event : FACTS_NONE;
}

// Adds [begin_ns, end_ns) with one cause and event, but for the profiler's part of it.
static bool add_stretch(struct gap_judge *judge, int64_t begin_ns, int64_t end_ns,
                        enum idle_cause cause, uint32_t event, struct err *err)
{
    for (int64_t now_ns = begin_ns; now_ns < end_ns;) {
        int64_t until_ns = end_ns;
        uint32_t overhead = overhead_at(judge, now_ns, &until_ns);
        bool own = overhead == FACTS_NONE;
        if (!add_slice(judge, own ? cause : IDLE_PROFILER, own ? event : overhead,
                       until_ns - now_ns, err))
            return false;
        now_ns = until_ns;
    }
    return true;
}

// What a thread was doing, as a cause. A synchronizing call counts only when it began before the
// gap: a later one finds nothing to wait for.
static enum idle_cause cause_of(const struct trace *trace, const struct host_moment *moment,
                                int64_t gap_begin_ns, uint32_t overhead, uint32_t *event)
{
    static const struct {
        enum host_trait trait;
        enum idle_cause cause;
    } marked[] = {{HOST_LOADING, IDLE_DATA_LOADING},
                  {HOST_ALLOCATOR, IDLE_ALLOCATOR},
                  {HOST_SYNC, IDLE_SYNC}};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        *event = moment->open[marked[i].trait];
        if (*event != FACTS_NONE &&
            (marked[i].trait != HOST_SYNC || trace->begin_ns[*event] < gap_begin_ns))
            return marked[i].cause;
    }
    *event = overhead != FACTS_NONE ? overhead : moment->event;
    return overhead != FACTS_NONE ? IDLE_PROFILER : IDLE_HOST_COMPUTE;
}

// The moment on the launching thread; where that is bare, on the other one.
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
        uint32_t overhead = overhead_at(judge, now_ns, &until_ns), event;
        enum idle_cause cause =
            cause_of(judge->facts->trace, &moment, gap->begin_ns, overhead, &event);
        if (!add_slice(judge, cause, event, until_ns - now_ns, err))
            return false;
        now_ns = until_ns;
    }
    return true;
}

// Whether the event stood first in its stream while the device worked on another stream until the
// gap began.
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

// The launch had returned when the gap began.
static bool judge_queued(struct gap_judge *judge, const struct gap *gap, uint32_t previous,
                         struct err *err)
{
    const struct facts *facts = judge->facts;
    uint32_t launch = facts->launches[facts->devices[gap->next].launch].event;
    int64_t launched_ns = facts_event_end(facts->trace, launch);
    uint32_t event = stream_waits_find(&judge->waits, gap->next, previous);
    enum idle_cause cause = IDLE_UNKNOWN;
    if (event != FACTS_NONE) {
        cause = IDLE_EVENT_WAIT;
    } else if (gap->end_ns - launched_ns < IDLE_START_NS &&
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

// The launch had not returned when the gap began.
static bool judge_late(struct gap_judge *judge, const struct gap *gap, uint32_t previous,
                       struct err *err)
{
    const struct facts *facts = judge->facts;
    uint32_t launch = facts->devices[gap->next].launch, event = facts->launches[launch].event;
    uint32_t other = gap->before == FACTS_NONE ? FACTS_NONE : facts->devices[gap->before].launch;
    struct host_view *views[2] = {view_of(judge, launch, err), NULL};
    if (views[0] && other != FACTS_NONE)
        views[1] = view_of(judge, other, err);
    if (!views[0] || (other != FACTS_NONE && !views[1]))
        return false;
    if (views[1] == views[0])
        views[1] = NULL;
    int64_t begin_ns = within(gap, facts->trace->begin_ns[event]);
    int64_t end_ns = within(gap, facts_event_end(facts->trace, event));
    uint32_t wait = FACTS_NONE;
    if (gap->end_ns - end_ns >= IDLE_START_NS)
        wait = stream_waits_find(&judge->waits, gap->next, previous);
    bool waits = wait != FACTS_NONE;
    return walk_host(judge, gap, begin_ns, views, err) &&
           add_stretch(judge, begin_ns, end_ns, IDLE_LAUNCH_OVERHEAD, event, err) &&
           add_stretch(judge, end_ns, gap->end_ns, waits ? IDLE_EVENT_WAIT : IDLE_LAUNCH_OVERHEAD,
                       waits ? wait : event, err);
}

// Moves the time that the host would have been ahead without the call that it waited in.
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
    if (launch == FACTS_NONE)
        return add_stretch(judge, gap->begin_ns, gap->end_ns, IDLE_UNKNOWN, FACTS_NONE, err);
    uint32_t event = facts->launches[launch].event;
    if (facts->launches[launch].first != gap->next)
        return add_stretch(judge, gap->begin_ns, gap->end_ns, IDLE_GRAPH_REPLAY, event, err);
    return facts_event_end(facts->trace, event) <= gap->begin_ns
               ? judge_queued(judge, gap, previous, err)
               : judge_late(judge, gap, previous, err);
}

bool gap_judge_decide(struct gap_judge *judge, struct gap *gap, uint32_t previous, struct err *err)
{
    judge->slice_count = 0;
    if (!slice_up(judge, gap, previous, err))
        return false;
    enum idle_cause cause = weigh(judge, gap->begin_ns);
    gap->cause = (uint8_t)cause;
    return pick_event(judge, cause, &gap->host_event, err);
}
