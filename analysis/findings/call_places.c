// SPDX-License-Identifier: Apache-2.0
// Tries ways of numbering the places of a kind's calls, and keeps the one that leaves the least
// slow time.
#include "analysis/findings/call_places.h"
#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

#define PERIODS      8 // distances between slow calls to try
#define PERIOD_TIMES 3 // a period must occur this often
#define PLACE_CALLS  2 // fewer calls at a place prove nothing about it
#define PLACE_SURE   3 // with this many calls at each place, no other way of numbering is tried
#define LONGEST_NS   (INT64_C(1) << 40)
#define MOST_PLACES  (1u << 22)

// The calls of one kind, in order of time.
struct kind {
    const struct facts *facts;
    const uint32_t *calls; // device events
    uint32_t count;
    int64_t median_ns;
    uint32_t *place;     // per call
    int64_t *usual_ns;   // per call: by the current places
    int64_t *best_ns;    // by the best ones so far
    double left_ns;      // slow time that these leave
    bool sure;           // places in steps or replays have enough calls
    struct keyed *items; // room for twice the calls
};

static int64_t time_of(const struct kind *kind, uint32_t call)
{
    const struct device_event *device = &kind->facts->devices[kind->calls[call]];
    int64_t ns = device->end_ns - device->begin_ns;
    return ns < LONGEST_NS ? ns : LONGEST_NS - 1;
}

static int64_t excess_of(const struct kind *kind, uint32_t call, const int64_t *usual_ns)
{
    return call_excess(time_of(kind, call), usual_ns[call]);
}

// Medians of the current places; keeps them if they leave less slow time. Returns the number of
// calls at the place with the fewest. Places chosen so that two slow calls share one do not count
// as usual for these two: the others have to show that they are slow.
static uint32_t try_places(struct kind *kind, bool chosen)
{
    double left_ns = 0;
    uint32_t least = UINT32_MAX;
    for (uint32_t c = 0; c < kind->count; c++)
        kind->items[c] =
            (struct keyed){(int64_t)kind->place[c] * LONGEST_NS + time_of(kind, c), c, 0};
    sort_keyed(kind->items, kind->items + kind->count, kind->count);
    for (uint32_t from = 0, to; from < kind->count; from = to) {
        uint32_t place = kind->place[kind->items[from].a];
        for (to = from + 1; to < kind->count && kind->place[kind->items[to].a] == place;)
            to++;
        least = to - from < least ? to - from : least;
        uint32_t middle = to - from < 2 ? 0 : (to - from - 1 - chosen) / 2;
        int64_t median_ns = time_of(kind, kind->items[from + middle].a);
        for (uint32_t i = from; i < to; i++)
            kind->usual_ns[kind->items[i].a] =
                to - from < PLACE_CALLS ? kind->median_ns : median_ns;
    }
    for (uint32_t c = 0; c < kind->count; c++)
        left_ns += (double)excess_of(kind, c, kind->usual_ns);
    if (left_ns >= kind->left_ns)
        return least;
    kind->left_ns = left_ns;
    memcpy(kind->best_ns, kind->usual_ns, kind->count * sizeof *kind->best_ns);
    return least;
}

// --- ways of numbering ---------------------------------------------------------------------------

// What consecutive calls share; a place is the number of a call among those that do.
typedef uint64_t scope_fn(const struct facts *facts, uint32_t device);

static uint64_t step_of(const struct facts *facts, uint32_t device)
{
    return facts->devices[device].step;
}

// A replay, or the call of an operator that launches several kernels of the kind.
static uint64_t replay_of(const struct facts *facts, uint32_t device)
{
    uint32_t l = facts->devices[device].launch;
    if (l == FACTS_NONE)
        return (uint64_t)device << 32;
    const struct launch *launch = &facts->launches[l];
    return launch->count > 1 || launch->op == FACTS_NONE ? launch->event : launch->op;
}

// Scopes with different numbers of calls have different places: a graph for another batch is a
// different graph.
static bool number_in(struct kind *kind, scope_fn *scope_of, struct err *err)
{
    struct groups places;
    bool ok = true;
    groups_init(&places, kind->facts->budget);
    for (uint32_t from = 0, to; ok && from < kind->count; from = to) {
        uint64_t scope = scope_of(kind->facts, kind->calls[from]);
        for (to = from + 1; to < kind->count; to++)
            if (scope_of(kind->facts, kind->calls[to]) != scope)
                break;
        for (uint32_t c = from; ok && c < to; c++)
            ok = groups_index(&places, to - from, c - from, &kind->place[c], err);
    }
    if (ok && places.count < MOST_PLACES)
        kind->sure |= try_places(kind, false) >= PLACE_SURE && places.count > 1;
    groups_free(&places);
    return ok;
}

static void number_by_module(struct kind *kind)
{
    for (uint32_t c = 0; c < kind->count; c++) {
        uint32_t launch = kind->facts->devices[kind->calls[c]].launch;
        kind->place[c] = launch == FACTS_NONE ? 0 : kind->facts->launches[launch].module;
        if (kind->place[c] >= MOST_PLACES)
            return;
    }
    try_places(kind, false);
}

static void number_by_period(struct kind *kind, uint32_t period)
{
    if (period < 2 || (uint64_t)period * PERIOD_TIMES > kind->count || period >= MOST_PLACES)
        return;
    for (uint32_t c = 0; c < kind->count; c++)
        kind->place[c] = c % period;
    try_places(kind, true);
}

// Layers that differ recur at equal distances; those tried are from a slow call to the next ones.
static void number_by_periods(struct kind *kind)
{
    uint32_t slow[PERIODS + 1], count = 0;
    for (uint32_t c = 0; c < kind->count && count <= PERIODS; c++)
        if (call_excess(time_of(kind, c), kind->median_ns) > 0)
            slow[count++] = c;
    for (uint32_t i = 1; i < count && kind->left_ns > 0; i++)
        number_by_period(kind, slow[i] - slow[0]);
}

// --- kinds ---------------------------------------------------------------------------------------

static bool judge_kind(struct kind *kind, struct err *err)
{
    kind->left_ns = 0;
    kind->sure = false;
    for (uint32_t c = 0; c < kind->count; c++) {
        kind->best_ns[c] = kind->median_ns;
        kind->left_ns += (double)excess_of(kind, c, kind->best_ns);
    }
    if (kind->left_ns <= 0)
        return true;
    if (!number_in(kind, step_of, err) || (!kind->sure && !number_in(kind, replay_of, err)))
        return false;
    if (kind->sure)
        return true;
    number_by_module(kind);
    number_by_periods(kind);
    return true;
}

// Device events by kind, in time order; starts has room for one per kind.
static void list_calls(const struct facts *facts, const struct grouping *kinds, uint32_t *starts,
                       uint32_t *calls)
{
    memcpy(starts, kinds->first, kinds->groups.count * sizeof *starts);
    for (uint32_t i = 0; i < facts->device_count; i++)
        if (kinds->group_of[i] != FACTS_NONE)
            calls[starts[kinds->group_of[i]]++] = i;
}

static bool judge_all(const struct grouping *kinds, const uint32_t *calls, struct kind *kind,
                      int64_t *usual_ns, struct err *err)
{
    for (uint32_t g = 0; g < kinds->groups.count; g++) {
        kind->calls = calls + kinds->first[g];
        kind->count = kinds->first[g + 1] - kinds->first[g];
        if (kind->count < FINDING_SLOW_CALL_CALLS)
            continue;
        kind->median_ns = stats_median(kinds->dur_ns + kinds->first[g], kind->count);
        if (!judge_kind(kind, err))
            return false;
        for (uint32_t c = 0; c < kind->count; c++)
            usual_ns[kind->calls[c]] = kind->best_ns[c];
    }
    return true;
}

bool call_places_make(const struct facts *facts, const struct grouping *kinds, struct arena *arena,
                      int64_t **usual_ns, struct err *err)
{
    uint32_t groups = kinds->groups.count, all = kinds->first[groups], most = 0;
    struct arena scratch;
    struct kind kind = {.facts = facts};
    int64_t *usual = arena_room(arena, (size_t)facts->device_count + 1, sizeof *usual, err);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t count = kinds->first[g + 1] - kinds->first[g];
        most = count > most ? count : most;
    }
    arena_init(&scratch, facts->budget);
    uint32_t *starts = arena_room(&scratch, (size_t)groups + 1, sizeof *starts, err);
    uint32_t *calls = arena_room(&scratch, (size_t)all + 1, sizeof *calls, err);
    kind.place = arena_room(&scratch, (size_t)most + 1, sizeof *kind.place, err);
    kind.usual_ns = arena_room(&scratch, (size_t)most + 1, sizeof *kind.usual_ns, err);
    kind.best_ns = arena_room(&scratch, (size_t)most + 1, sizeof *kind.best_ns, err);
    kind.items = arena_room(&scratch, 2 * (size_t)most + 1, sizeof *kind.items, err);
    bool ok = usual && starts && calls && kind.place && kind.usual_ns && kind.best_ns && kind.items;
    for (uint32_t i = 0; ok && i < facts->device_count; i++)
        usual[i] = INT64_MAX;
    if (ok) {
        list_calls(facts, kinds, starts, calls);
        ok = judge_all(kinds, calls, &kind, usual, err);
    }
    arena_free(&scratch);
    *usual_ns = usual;
    return ok;
}
