// SPDX-License-Identifier: Apache-2.0
// What sends and receives show about two clocks. If both sides meet (rendezvous) they end together;
// a buffered send ends before its receive, so sends in one direction give the minimum by which one
// clock is ahead of the other, and those in the other direction the maximum.
#include "analysis/ranks/run_clock_stages.h"
#include "analysis/stats/sort.h"

#include <math.h>
#include <stdlib.h>

#define LOW_PERCENT  10
#define MOST_GAP_NS  1000000 // between the bounds of both directions
#define MOST_WIDE_NS 200000  // spread of ends that meet
#define ALONE_LEAST  4       // kernels with one peer that make the others unnecessary

struct clock_pair {
    uint32_t a, b; // ranks, a < b
    uint32_t first, count;
};

// Evidence from a pair's matches: how much more is to be added to the clock of b.
struct sayings {
    int64_t *lower, *upper, *scratch; // sends of a, and those of b
    size_t lower_count, upper_count;
};

// Marks the events whose kernel only communicates with one peer, so that it ends when that is done.
static void mark_alone(struct run_comm *comm)
{
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        struct comm_rank *rank = &comm->ranks[r];
        for (uint32_t first = 0, end; first < rank->count; first = end) {
            bool alone = true;
            for (end = first + 1; end < rank->count && rank->events[end].joined; end++)
                alone &=
                    comm->ops[rank->events[end].op].peer == comm->ops[rank->events[first].op].peer;
            for (uint32_t i = first; i < end; i++)
                rank->events[i].alone = alone;
        }
    }
}

static bool is_alone(const struct run_comm *comm, struct comm_member member)
{
    return comm->ranks[member.rank].events[member.event].alone;
}

static void add_saying(const struct run_comm *comm, const struct comm_match *match,
                       struct sayings *sayings)
{
    struct comm_member a = comm->members[match->first], b = comm->members[match->first + 1];
    enum collective_kind kind = comm->ops[comm->ranks[a.rank].events[a.event].op].kind;
    int64_t ahead_ns = run_clock_end(comm, a) - run_clock_end(comm, b);
    if (kind != KIND_RECV)
        sayings->lower[sayings->lower_count++] = ahead_ns;
    if (kind != KIND_SEND)
        sayings->upper[sayings->upper_count++] = ahead_ns;
}

static void list_sayings(const struct run_comm *comm, const struct clock_pairs *pairs,
                         const struct clock_pair *pair, const struct clock_slice *slice,
                         struct sayings *sayings)
{
    for (int alone = 1; alone >= 0; alone--) {
        sayings->lower_count = sayings->upper_count = 0;
        for (uint32_t i = pair->first; i < pair->first + pair->count; i++) {
            const struct comm_match *match = &comm->matches[pairs->matches[i]];
            bool both = is_alone(comm, comm->members[match->first]) &&
                        is_alone(comm, comm->members[match->first + 1]);
            if (run_clock_counts(slice, pairs->matches[i]) && (both || !alone))
                add_saying(comm, match, sayings);
        }
        if (sayings->lower_count + sayings->upper_count >= ALONE_LEAST)
            return;
    }
}

static int64_t sorted_at(int64_t *values, int64_t *scratch, size_t count, unsigned percent)
{
    sort_i64(values, scratch, count);
    return values[(count - 1) * percent / 100];
}

// Between the bounds, or where one direction alone is consistent; false if it is not.
static bool find_center(struct sayings *all, int64_t *center_ns, double *spread_ns)
{
    size_t lowers = all->lower_count, uppers = all->upper_count;
    *spread_ns = 0;
    if (lowers && uppers) {
        int64_t low_ns = sorted_at(all->lower, all->scratch, lowers, 100 - LOW_PERCENT);
        int64_t high_ns = sorted_at(all->upper, all->scratch, uppers, LOW_PERCENT);
        *center_ns = low_ns + (high_ns - low_ns) / 2;
        *spread_ns = fabs((double)(high_ns - low_ns)) / 2;
        return high_ns - low_ns <= MOST_GAP_NS;
    }
    int64_t *values = lowers ? all->lower : all->upper;
    *center_ns = run_median(values, all->scratch, lowers + uppers);
    return lowers + uppers > 0;
}

// The spread of all values together around the center.
static double spread_of(const struct sayings *all, int64_t *values, int64_t center_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < all->lower_count; i++)
        values[count++] = llabs(all->lower[i] - center_ns);
    for (size_t i = 0; i < all->upper_count; i++)
        values[count++] = llabs(all->upper[i] - center_ns);
    return fmax(RUN_CLOCK_FLOOR_NS, 1.4826 * (double)run_median(values, all->scratch, count));
}

static double refined(const struct sayings *all, int64_t *values, int64_t center_ns,
                      double spread_ns)
{
    memcpy(values, all->lower, all->lower_count * sizeof *values);
    memcpy(values + all->lower_count, all->upper, all->upper_count * sizeof *values);
    return (double)center_ns +
           run_clock_biweight(values, all->lower_count + all->upper_count, center_ns, spread_ns);
}

// How much more is to be added to the clock of b than to that of a, and the variance of that.
static bool compare_pair(struct sayings *all, int64_t *values, double *ahead_ns, double *variance)
{
    int64_t center_ns;
    double gap_ns;
    if (!find_center(all, &center_ns, &gap_ns))
        return false;
    size_t count = all->lower_count + all->upper_count;
    bool bounded = all->lower_count && all->upper_count;
    double spread_ns = spread_of(all, values, center_ns);
    if (!bounded && spread_ns > MOST_WIDE_NS)
        return false;
    bool meets = spread_ns <= MOST_WIDE_NS;
    *ahead_ns = meets ? refined(all, values, center_ns, spread_ns) : (double)center_ns;
    double error_ns = meets ? spread_ns / sqrt((double)count) : fmax(gap_ns, RUN_CLOCK_JITTER_NS);
    *variance = error_ns * error_ns + (double)RUN_CLOCK_JITTER_NS * RUN_CLOCK_JITTER_NS;
    return true;
}

// --- pairs --------------------------------------------------------------------------------------

static bool joins_components(const struct run_comm *comm, const struct comm_match *match)
{
    const struct comm_member *members = &comm->members[match->first];
    return run_comm_is_p2p(comm->ops[match->op].kind) && match->count == 2 &&
           comm->ranks[members[0].rank].component != comm->ranks[members[1].rank].component;
}

static void group_pairs(const struct run_comm *comm, const struct keyed *items, uint32_t count,
                        struct clock_pairs *pairs)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct comm_member *members = &comm->members[comm->matches[items[i].a].first];
        if (i == 0 || items[i].key != items[i - 1].key)
            pairs->pairs[pairs->count++] =
                (struct clock_pair){members[0].rank, members[1].rank, i, 0};
        pairs->pairs[pairs->count - 1].count++;
        pairs->matches[i] = items[i].a;
    }
}

bool run_clock_sends_find(struct run_comm *comm, struct arena *arena, struct clock_pairs *pairs,
                          struct err *err)
{
    uint32_t count = 0;
    *pairs = (struct clock_pairs){0};
    for (uint32_t m = 0; comm->component_count > 1 && m < comm->match_count; m++)
        count += joins_components(comm, &comm->matches[m]);
    struct keyed *items = arena_room(arena, 2 * (size_t)count, sizeof *items, err);
    pairs->pairs = arena_room(arena, count, sizeof *pairs->pairs, err);
    pairs->matches = arena_room(arena, count, sizeof *pairs->matches, err);
    if (!items || !pairs->pairs || !pairs->matches)
        return false;
    if (count > 0)
        mark_alone(comm);
    uint32_t at = 0;
    for (uint32_t m = 0; at < count; m++) {
        const struct comm_member *members = &comm->members[comm->matches[m].first];
        if (!joins_components(comm, &comm->matches[m]))
            continue;
        items[at++] = (struct keyed){(int64_t)members[0].rank << 32 | members[1].rank, m, 0};
        comm->matches[m].tells = true;
    }
    sort_keyed(items, items + count, count);
    group_pairs(comm, items, count, pairs);
    return true;
}

static void add_pair(const struct clock_pair *pair, double ahead_ns, double variance,
                     struct clock_graph *graph)
{
    double weight = (double)RUN_CLOCK_JITTER_NS * RUN_CLOCK_JITTER_NS / variance;
    graph->edges[graph->edge_count++] =
        (struct clock_edge){.clock = pair->a, .hub = graph->hub_count, .weight = weight};
    graph->edges[graph->edge_count++] = (struct clock_edge){
        .clock = pair->b, .hub = graph->hub_count, .offset_ns = ahead_ns, .weight = weight};
    graph->hub_count++;
}

bool run_clock_sends_add(const struct run_comm *comm, const struct clock_pairs *pairs,
                         const struct clock_slice *slice, struct clock_graph *graph,
                         struct err *err)
{
    struct arena scratch;
    uint32_t most = 0;
    for (uint32_t p = 0; p < pairs->count; p++)
        most = pairs->pairs[p].count > most ? pairs->pairs[p].count : most;
    arena_init(&scratch, comm->budget);
    int64_t *room = arena_room(&scratch, 6 * (size_t)most, sizeof *room, err);
    struct sayings all = {room, room + most, room + 2 * (size_t)most, 0, 0};
    for (uint32_t p = 0; room && p < pairs->count; p++) {
        double ahead_ns, variance;
        list_sayings(comm, pairs, &pairs->pairs[p], slice, &all);
        if (compare_pair(&all, room + 4 * (size_t)most, &ahead_ns, &variance))
            add_pair(&pairs->pairs[p], ahead_ns, variance, graph);
    }
    arena_free(&scratch);
    return room != NULL;
}
