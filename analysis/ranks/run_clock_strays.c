// SPDX-License-Identifier: Apache-2.0
// Looks for clocks that run at a different rate or were set during recording: first whether any
// rank's ends drift from the others', then by how much, in slices of time that are solved one by
// one.
#include "analysis/stats/clock_fit.h"
#include "analysis/ranks/run_clock_stages.h"
#include "analysis/stats/sort.h"
#include "ingest/base/crew.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SLICES       24
#define SLICES_LEAST CLOCK_FIT_MIN
#define EACH_LEAST   2    // matches of the group with fewest in a slice, if there are enough
#define SHOWN_LEAST  0.25 // of a jump that the ends around it must show to place it
#define ROUNDS       4    // of slopes
#define SETTLED      2e-7 // below this, slopes no longer change
#define ALIKE        1e-6 // how much the rates of equal clocks may differ

// --- whether any clock strays -------------------------------------------------------------------

// By how much each useful event of a rank ends before the others' on the common clock, in order.
struct trail {
    int64_t *end_ns, *away_ns; // ends on the rank's own clock
    int64_t *values, *scratch;
    uint32_t count;
};

static bool make_trail(const struct run_comm *comm, struct arena *arena, struct trail *trail,
                       struct err *err)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        most = comm->ranks[r].count > most ? comm->ranks[r].count : most;
    int64_t *room = arena_room(arena, 4 * (size_t)most, sizeof *room, err);
    *trail = (struct trail){room, room + most, room + 2 * (size_t)most, room + 3 * (size_t)most, 0};
    return room != NULL;
}

static void follow(const struct run_comm *comm, const struct comm_rank *rank,
                   const int64_t *middle_ns, struct trail *trail)
{
    trail->count = 0;
    for (uint32_t i = 0; i < rank->count; i++) {
        const struct comm_event *event = &rank->events[i];
        if (event->match == RUN_NONE || !comm->matches[event->match].tells)
            continue;
        trail->end_ns[trail->count] = event->begin_ns + event->dur_ns;
        trail->away_ns[trail->count++] =
            middle_ns[event->match] - (event->begin_ns + event->dur_ns + rank->offset_ns);
    }
}

static bool strays(struct trail *trail)
{
    struct clock_point points[SLICES];
    uint32_t blocks = trail->count / 2 < SLICES ? trail->count / 2 : SLICES;
    if (blocks < CLOCK_FIT_MIN)
        blocks = trail->count < CLOCK_FIT_MIN ? 0 : CLOCK_FIT_MIN;
    if (blocks == 0)
        return false;
    for (uint32_t b = 0; b < blocks; b++) {
        size_t first = (size_t)trail->count * b / blocks;
        size_t end = (size_t)trail->count * (b + 1) / blocks;
        memcpy(trail->values, trail->away_ns + first, (end - first) * sizeof *trail->values);
        points[b] = (struct clock_point){
            (double)(trail->end_ns[first + (end - first) / 2] - trail->end_ns[0]),
            (double)run_median(trail->values, trail->scratch, end - first)};
    }
    struct clock_fit fit = clock_fit_make(points, blocks);
    return !clock_fit_is_straight(&fit);
}

struct looking {
    const struct run_comm *comm;
    const int64_t *middle_ns;
    atomic_bool found;
};

static bool look_in(void *context, size_t from, size_t to, struct err *err)
{
    struct looking *looking = context;
    struct arena scratch;
    struct trail trail;
    arena_init(&scratch, looking->comm->budget);
    bool ok = make_trail(looking->comm, &scratch, &trail, err);
    for (size_t r = from; ok && r < to && !looking->found; r++) {
        follow(looking->comm, &looking->comm->ranks[r], looking->middle_ns, &trail);
        if (strays(&trail))
            looking->found = true;
    }
    arena_free(&scratch);
    return ok;
}

static bool any_strays(const struct run_comm *comm, const int64_t *middle_ns, bool *any,
                       struct err *err)
{
    struct looking looking = {.comm = comm, .middle_ns = middle_ns};
    bool ok = crew_each(comm->cores, comm->rank_count, RUN_RANKS_EACH, look_in, &looking, err);
    *any = looking.found;
    return ok;
}

// --- slices -------------------------------------------------------------------------------------

// When the collectives of a slice ended, since the component's first one.
struct slice_time {
    double share, sum_ns; // of their shares, of times by share
};

struct slices {
    struct run_comm *comm;
    const struct clock_pairs *pairs;
    const int64_t *middle_ns;
    uint32_t count;
    uint8_t *of;                // per match
    uint32_t *counts;           // per group: useful matches
    struct slice_time *times;   // per component and slice
    int64_t *begin_ns;          // per component, on its common clock
    struct clock_point *points; // per rank: count, NAN if its distance is unknown
    uint8_t *known;             // per rank: how many points, once they are close together
    double *slopes;             // per rank
    double *values;             // room for one per rank
};

// As many that the group with fewest collectives has some in each.
static uint32_t count_slices(const struct slices *all)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t g = 0; g < all->comm->group_count; g++)
        least = all->counts[g] && all->counts[g] < least ? all->counts[g] : least;
    least /= EACH_LEAST;
    return least < SLICES_LEAST ? SLICES_LEAST : least < SLICES ? least : SLICES;
}

static uint32_t component_of(const struct run_comm *comm, const struct comm_match *match)
{
    return comm->ranks[comm->members[match->first].rank].component;
}

static bool make_slices(struct slices *all, struct arena *arena, struct err *err)
{
    const struct run_comm *comm = all->comm;
    size_t ranks = comm->rank_count, components = comm->component_count;
    all->counts = arena_array(arena, comm->group_count, sizeof *all->counts, err);
    for (uint32_t m = 0; all->counts && m < comm->match_count; m++)
        all->counts[comm->ops[comm->matches[m].op].group] += comm->matches[m].tells;
    all->count = all->counts ? count_slices(all) : 0;
    all->of = arena_room(arena, comm->match_count, 1, err);
    all->times = arena_array(arena, components * all->count, sizeof *all->times, err);
    all->begin_ns = arena_room(arena, components, sizeof *all->begin_ns, err);
    all->points = arena_room(arena, ranks * all->count, sizeof *all->points, err);
    all->known = arena_array(arena, ranks, 1, err);
    all->slopes = arena_room(arena, 2 * ranks, sizeof *all->slopes, err);
    all->values = all->slopes ? all->slopes + ranks : NULL;
    return all->count && all->of && all->times && all->begin_ns && all->points && all->known &&
           all->slopes;
}

// All groups have equal weight, however many collectives they have, so that slices have some of
// each.
static double share_of(const struct slices *all, const struct comm_match *match)
{
    return 1.0 / all->counts[all->comm->ops[match->op].group];
}

struct cut {
    double sum, past; // of shares: total, and of the slices so far
};

static void cut_in_order(struct slices *all, const struct keyed *items, uint32_t count,
                         struct cut *cuts)
{
    const struct run_comm *comm = all->comm;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = component_of(comm, &comm->matches[items[i].a]);
        all->begin_ns[c] = cuts[c].sum > 0 ? all->begin_ns[c] : items[i].key;
        cuts[c].sum += share_of(all, &comm->matches[items[i].a]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = component_of(comm, &comm->matches[items[i].a]);
        double share = share_of(all, &comm->matches[items[i].a]);
        double place = (cuts[c].past + share / 2) / cuts[c].sum * all->count;
        uint32_t slice = place < all->count ? (uint32_t)place : all->count - 1;
        struct slice_time *time = &all->times[(size_t)c * all->count + slice];
        all->of[items[i].a] = (uint8_t)slice;
        cuts[c].past += share;
        time->share += share;
        time->sum_ns += share * (double)(items[i].key - all->begin_ns[c]);
    }
}

static bool cut_slices(struct slices *all, struct arena *arena, struct err *err)
{
    const struct run_comm *comm = all->comm;
    uint32_t count = 0;
    struct keyed *items = arena_room(arena, 2 * (size_t)comm->match_count, sizeof *items, err);
    struct cut *cuts = arena_array(arena, comm->component_count, sizeof *cuts, err);
    if (!items || !cuts)
        return false;
    memset(all->of, RUN_CLOCK_ALL, comm->match_count);
    for (uint32_t m = 0; m < comm->match_count; m++)
        if (comm->matches[m].tells)
            items[count++] = (struct keyed){all->middle_ns[m], m, 0};
    sort_keyed(items, items + count, count);
    cut_in_order(all, items, count, cuts);
    return true;
}

// The connected part of a component in the slice with most of its ranks.
static uint32_t largest_part(const struct slices *all, const struct clock_graph *graph,
                             uint32_t component, uint32_t *sizes)
{
    uint32_t best = 0;
    memset(sizes, 0, graph->component_count * sizeof *sizes);
    for (uint32_t r = 0; r < all->comm->rank_count; r++)
        if (all->comm->ranks[r].component == component &&
            ++sizes[graph->component[r]] > sizes[best])
            best = graph->component[r];
    return best;
}

// Each rank's distance from where it was, relative to the lowest rank of the part.
static void add_points(struct slices *all, const struct clock_graph *graph, uint32_t slice,
                       uint32_t component, uint32_t part)
{
    const struct run_comm *comm = all->comm;
    const struct slice_time *time = &all->times[(size_t)component * all->count + slice];
    double time_ns = time->share > 0 ? time->sum_ns / time->share : 0;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        bool known = graph->component[r] == part;
        double away_ns = graph->offset_ns[r] - (double)rank->offset_ns + rank->drift * time_ns;
        if (rank->component == component)
            all->points[(size_t)r * all->count + slice] =
                (struct clock_point){time_ns, known ? away_ns : NAN};
    }
}

static bool solve_slice(struct slices *all, uint32_t slice, struct err *err)
{
    struct run_comm *comm = all->comm;
    struct arena scratch;
    struct clock_graph graph = {0};
    arena_init(&scratch, comm->budget);
    const struct clock_slice only = {all->of, (uint8_t)slice};
    uint32_t *sizes = arena_room(&scratch, comm->rank_count, sizeof *sizes, err);
    bool ok = sizes && run_clocks_solve(comm, all->pairs, &only, &scratch, &graph, err);
    for (uint32_t c = 0; ok && c < comm->component_count; c++)
        add_points(all, &graph, slice, c, largest_part(all, &graph, c, sizes));
    arena_free(&scratch);
    return ok;
}

// --- the reference -------------------------------------------------------------------------------

static struct clock_point *points_of(const struct slices *all, uint32_t rank)
{
    return &all->points[(size_t)rank * all->count];
}

// Any deviation of the lowest rank in the slice is in all distances. With two ranks there is no
// telling which one strays, and the lower one is the reference.
static void take_out_usual(struct slices *all, uint32_t component, uint32_t slice)
{
    const struct run_comm *comm = all->comm;
    size_t count = 0;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct clock_point *point = &points_of(all, r)[slice];
        if (comm->ranks[r].component == component && !isnan(point->away_ns))
            all->values[count++] = point->away_ns - all->slopes[r] * point->time_ns;
    }
    if (count > 2)
        qsort(all->values, count, sizeof *all->values, order_doubles);
    double usual_ns = count < 2 ? NAN : count == 2 ? all->values[0] : all->values[(count - 1) / 2];
    for (uint32_t r = 0; r < comm->rank_count; r++)
        if (comm->ranks[r].component == component)
            points_of(all, r)[slice].away_ns -= usual_ns;
}

static void close_up(struct slices *all, uint32_t rank)
{
    struct clock_point *points = points_of(all, rank);
    all->known[rank] = 0;
    for (uint32_t s = 0; s < all->count; s++)
        if (!isnan(points[s].away_ns))
            points[all->known[rank]++] = points[s];
}

// The rate at which most ranks of the component run; if there is no majority, that of the lowest
// one, which is 0.
static double usual_rate(const struct slices *all, uint32_t component)
{
    size_t count = 0, most;
    for (uint32_t r = 0; r < all->comm->rank_count; r++)
        if (all->comm->ranks[r].component == component && all->known[r] >= CLOCK_FIT_MIN)
            all->values[count++] = all->slopes[r];
    if (count < 3)
        return 0;
    most = count / 2 + 1;
    qsort(all->values, count, sizeof *all->values, order_doubles);
    size_t best = 0;
    for (size_t i = 1; i + most <= count; i++)
        if (all->values[i + most - 1] - all->values[i] <
            all->values[best + most - 1] - all->values[best])
            best = i;
    bool alike = all->values[best + most - 1] - all->values[best] <= ALIKE;
    return alike ? all->values[best + most / 2] : 0;
}

// Distances from the lowest rank, as if it ran straight.
static void find_distances(struct slices *all)
{
    const struct run_comm *comm = all->comm;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        all->slopes[r] = clock_fit_slope(points_of(all, r), all->count);
    for (uint32_t c = 0; c < comm->component_count; c++)
        for (uint32_t s = 0; s < all->count; s++)
            take_out_usual(all, c, s);
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        close_up(all, r);
        all->slopes[r] = clock_fit_make(points_of(all, r), all->known[r]).slope;
    }
}

// Distances from a clock that runs like most do.
static void take_out_rate(struct slices *all)
{
    const struct run_comm *comm = all->comm;
    for (uint32_t c = 0; c < comm->component_count; c++) {
        double rate = usual_rate(all, c);
        for (uint32_t r = 0; r < comm->rank_count; r++)
            for (uint32_t i = 0; comm->ranks[r].component == c && i < all->known[r]; i++)
                points_of(all, r)[i].away_ns -= rate * points_of(all, r)[i].time_ns;
    }
}

static int64_t origin_of(const struct slices *all, uint32_t rank)
{
    const struct comm_rank *known = &all->comm->ranks[rank];
    return all->begin_ns[known->component] - known->offset_ns; // its own clock
}

// What is left to add to the drifts.
static double take_slopes(struct slices *all)
{
    double most = 0;
    for (uint32_t r = 0; r < all->comm->rank_count; r++) {
        struct comm_rank *rank = &all->comm->ranks[r];
        most = fmax(most, fabs(all->slopes[r] - rank->drift));
        rank->drift = all->slopes[r];
        rank->drift_from_ns = origin_of(all, r);
    }
    return most;
}

// Groups meet at different times within a slice, so a slice shows the clocks correctly only as far
// as they are straight: it is evaluated again with the slopes found.
static bool see_slices(struct slices *all, struct err *err)
{
    struct run_comm *comm = all->comm;
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t s = 0; s < all->count; s++)
            if (!solve_slice(all, s, err))
                return false;
        find_distances(all);
        if (take_slopes(all) < SETTLED)
            break;
    }
    for (uint32_t r = 0; r < comm->rank_count; r++)
        comm->ranks[r].drift = 0;
    take_out_rate(all);
    return true;
}

// --- drifts and jumps ----------------------------------------------------------------------------

// When a rank's clock jumped: between the two ends around which its distance changes. Searched
// between two moments of its own clock; halfway if its ends do not show it.
static int64_t place_jump(struct trail *trail, int64_t from_ns, int64_t to_ns, double by_ns)
{
    uint32_t first = 0, end = trail->count;
    while (first < end && trail->end_ns[first] < from_ns)
        first++;
    while (end > first && trail->end_ns[end - 1] > to_ns)
        end--;
    uint32_t count = end - first, quarter = count / 4 ? count / 4 : 1;
    int64_t half_ns = from_ns + (to_ns - from_ns) / 2;
    if (count < 2)
        return half_ns;
    memcpy(trail->values, trail->away_ns + first, quarter * sizeof *trail->values);
    int64_t before_ns = run_median(trail->values, trail->scratch, quarter);
    memcpy(trail->values, trail->away_ns + end - quarter, quarter * sizeof *trail->values);
    int64_t after_ns = run_median(trail->values, trail->scratch, quarter);
    double shown_ns = (double)(after_ns - before_ns);
    if (fabs(shown_ns) < SHOWN_LEAST * fabs(by_ns))
        return half_ns;
    int64_t level_ns = before_ns + (after_ns - before_ns) / 2;
    int64_t best = 0, score = 0;
    uint32_t split = first;
    for (uint32_t i = first; i < end; i++) {
        score += (trail->away_ns[i] < level_ns) == (shown_ns > 0) ? 1 : -1;
        if (score > best) {
            best = score;
            split = i + 1;
        }
    }
    if (split == first || split == end)
        return half_ns;
    return trail->end_ns[split - 1] + 1;
}

static void take_fit(const struct slices *all, uint32_t r, const struct clock_fit *fit,
                     struct trail *trail)
{
    struct comm_rank *rank = &all->comm->ranks[r];
    const struct clock_point *points = points_of(all, r);
    int64_t origin_ns = origin_of(all, r);
    follow(all->comm, rank, all->middle_ns, trail);
    int64_t ahead_ns = 0; // of the common clock by the jumps before
    for (unsigned j = 0; j < fit->jump_count; j++) {
        unsigned at = fit->jumps[j].point, last = all->known[r] - 1u;
        int64_t by_ns = llround(fit->jumps[j].by_ns), put_on_ns = by_ns < 0 ? -by_ns : 0;
        int64_t from_ns = (int64_t)points[at >= 2 ? at - 2 : 0].time_ns;
        int64_t to_ns = (int64_t)points[at + 1 < last ? at + 1 : last].time_ns + put_on_ns;
        rank->jumps[j].at_ns = place_jump(trail, origin_ns + ahead_ns + from_ns,
                                          origin_ns + ahead_ns + to_ns, fit->jumps[j].by_ns);
        rank->jumps[j].by_ns = by_ns;
        ahead_ns -= by_ns;
    }
    rank->drift = fit->drift;
    rank->drift_from_ns = origin_ns;
    rank->jump_count = fit->jump_count;
}

static bool find_shapes(struct slices *all, struct trail *trail, bool *any, struct err *err)
{
    if (!see_slices(all, err))
        return false;
    for (uint32_t r = 0; r < all->comm->rank_count; r++) {
        struct clock_fit fit = clock_fit_make(points_of(all, r), all->known[r]);
        *any |= !clock_fit_is_straight(&fit);
        if (!clock_fit_is_straight(&fit))
            take_fit(all, r, &fit, trail);
    }
    return true;
}

bool run_clock_strays_find(struct run_comm *comm, const struct clock_pairs *pairs,
                           const int64_t *middle_ns, bool *any, struct err *err)
{
    struct arena scratch;
    struct trail trail;
    struct slices all = {.comm = comm, .pairs = pairs, .middle_ns = middle_ns};
    bool look_closer;
    *any = false;
    if (!any_strays(comm, middle_ns, &look_closer, err))
        return false;
    if (!look_closer)
        return true;
    arena_init(&scratch, comm->budget);
    bool ok = make_trail(comm, &scratch, &trail, err) && make_slices(&all, &scratch, err) &&
              cut_slices(&all, &scratch, err) && find_shapes(&all, &trail, any, err);
    arena_free(&scratch);
    return ok;
}
