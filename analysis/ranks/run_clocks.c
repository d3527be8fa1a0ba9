// SPDX-License-Identifier: Apache-2.0
// By how much the ranks' clocks differ: all ranks leave a joint collective together. Within a group
// medians show how the clocks differ, across groups least squares; sends join the rest.
#include "analysis/ranks/run_clock_stages.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "ingest/base/crew.h"

#include <math.h>

#define REFINE     3     // rounds within a group
#define REACH      16    // rounds that look for ranks that share no collective with the first
#define TUKEY      4.685 // of spreads: values further off do not count
#define UNKNOWN_NS INT64_MIN
#define FEW        48 // values that are simply sorted

int64_t run_median(int64_t *values, int64_t *scratch, size_t count)
{
    if (count >= FEW)
        return stats_quantiles(values, scratch, count).median;
    sort_i64(values, scratch, count);
    if (count == 0)
        return 0;
    int64_t low = values[(count - 1) / 2], high = values[count / 2];
    return low + (high - low) / 2;
}

// The joint collectives of one group and the ends of each of its ranks.
struct hub {
    struct run_comm *comm;
    const uint32_t *matches; // indices
    uint32_t match_count;
    const struct comm_group *group;
    uint32_t *first, *which; // per rank of the group: its collectives, as places in matches
    int64_t *end_ns;         // beside which
    int64_t *offset_ns;      // per rank of the group, UNKNOWN_NS before
    double *spread_ns;       // same
    int64_t *middle_ns;      // per collective: where the group's ends are, UNKNOWN_NS before
    int64_t *values, *scratch;
    uint32_t *place;          // per rank of the run: its index in the group
    uint32_t index;           // of the hubs
    struct clock_edge *edges; // room for one per rank of the group
    uint32_t edge_count;
};

static const struct comm_match *match_at(const struct hub *hub, uint32_t m)
{
    return &hub->comm->matches[hub->matches[m]];
}

// --- one group ----------------------------------------------------------------------------------

static bool make_hub(struct hub *hub, struct arena *scratch, struct err *err)
{
    uint32_t ranks = hub->group->rank_count, members = 0;
    for (uint32_t m = 0; m < hub->match_count; m++)
        members += match_at(hub, m)->count;
    size_t most = hub->match_count > ranks ? hub->match_count : ranks;
    hub->first = arena_array(scratch, (size_t)ranks + 2, sizeof *hub->first, err);
    hub->which = arena_room(scratch, members, sizeof *hub->which, err);
    hub->end_ns = arena_room(scratch, members, sizeof *hub->end_ns, err);
    hub->offset_ns = arena_room(scratch, ranks, sizeof *hub->offset_ns, err);
    hub->spread_ns = arena_array(scratch, ranks, sizeof *hub->spread_ns, err);
    hub->middle_ns = arena_room(scratch, hub->match_count, sizeof *hub->middle_ns, err);
    hub->values = arena_room(scratch, most, sizeof *hub->values, err);
    hub->scratch = arena_room(scratch, most, sizeof *hub->scratch, err);
    hub->place = arena_room(scratch, hub->comm->rank_count, sizeof *hub->place, err);
    return hub->place && hub->first && hub->which && hub->end_ns && hub->offset_ns &&
           hub->spread_ns && hub->middle_ns && hub->values && hub->scratch;
}

static void list_ends(struct hub *hub)
{
    const struct comm_member *members = hub->comm->members;
    for (uint32_t i = 0; i < hub->group->rank_count; i++) {
        hub->place[hub->group->ranks[i]] = i;
        hub->offset_ns[i] = UNKNOWN_NS;
    }
    for (uint32_t m = 0; m < hub->match_count; m++)
        for (uint32_t i = 0; i < match_at(hub, m)->count; i++)
            hub->first[hub->place[members[match_at(hub, m)->first + i].rank] + 2]++;
    for (uint32_t i = 0; i < hub->group->rank_count; i++)
        hub->first[i + 2] += hub->first[i + 1];
    for (uint32_t m = 0; m < hub->match_count; m++)
        for (uint32_t i = 0; i < match_at(hub, m)->count; i++) {
            struct comm_member member = members[match_at(hub, m)->first + i];
            uint32_t at = hub->first[hub->place[member.rank] + 1]++;
            hub->which[at] = m;
            hub->end_ns[at] = run_clock_end(hub->comm, member);
        }
}

// The differences between a rank's ends and the group's, where those are known.
static size_t differences(const struct hub *hub, uint32_t rank)
{
    size_t count = 0;
    for (uint32_t i = hub->first[rank]; i < hub->first[rank + 1]; i++)
        if (hub->middle_ns[hub->which[i]] != UNKNOWN_NS)
            hub->values[count++] = hub->middle_ns[hub->which[i]] - hub->end_ns[i];
    return count;
}

// The middle of the ends of each collective on the clock of the group, as far as offsets are known.
static void find_middles(struct hub *hub)
{
    const struct comm_member *members = hub->comm->members;
    for (uint32_t m = 0; m < hub->match_count; m++) {
        size_t count = 0;
        for (uint32_t i = 0; i < match_at(hub, m)->count; i++) {
            struct comm_member member = members[match_at(hub, m)->first + i];
            int64_t offset_ns = hub->offset_ns[hub->place[member.rank]];
            if (offset_ns != UNKNOWN_NS)
                hub->values[count++] = run_clock_end(hub->comm, member) + offset_ns;
        }
        hub->middle_ns[m] = count ? run_median(hub->values, hub->scratch, count) : UNKNOWN_NS;
    }
}

// First offsets, spreading from the rank with most collectives to those that share some with it.
static void begin_offsets(struct hub *hub)
{
    uint32_t ranks = hub->group->rank_count, best = 0;
    for (uint32_t i = 1; i < ranks; i++)
        if (hub->first[i + 1] - hub->first[i] > hub->first[best + 1] - hub->first[best])
            best = i;
    hub->offset_ns[best] = 0;
    bool more = true;
    for (int round = 0; more && round < REACH; round++) {
        find_middles(hub);
        more = false;
        for (uint32_t i = 0; i < ranks; i++) {
            size_t count = hub->offset_ns[i] == UNKNOWN_NS ? differences(hub, i) : 0;
            if (count == 0)
                continue;
            hub->offset_ns[i] = run_median(hub->values, hub->scratch, count);
            more = true;
        }
    }
}

double run_clock_biweight(const int64_t *values, size_t count, int64_t center_ns, double spread_ns)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < count; i++) {
        double apart = (double)(values[i] - center_ns) / (TUKEY * spread_ns);
        double weight = fabs(apart) < 1 ? (1 - apart * apart) * (1 - apart * apart) : 0;
        sum += weight * (double)(values[i] - center_ns);
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

static void refine(struct hub *hub, uint32_t rank, int64_t *copy)
{
    size_t count = differences(hub, rank);
    if (count == 0)
        return;
    memcpy(copy, hub->values, count * sizeof *copy);
    int64_t median_ns = run_median(hub->values, hub->scratch, count);
    for (size_t i = 0; i < count; i++)
        hub->values[i] = copy[i] > median_ns ? copy[i] - median_ns : median_ns - copy[i];
    double spread_ns = 1.4826 * (double)run_median(hub->values, hub->scratch, count);
    spread_ns = fmax(spread_ns, RUN_CLOCK_FLOOR_NS);
    hub->spread_ns[rank] = spread_ns;
    hub->offset_ns[rank] =
        median_ns + llround(run_clock_biweight(copy, count, median_ns, spread_ns));
}

static void add_edges(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->group->rank_count; i++) {
        uint32_t count = hub->first[i + 1] - hub->first[i];
        if (count == 0 || hub->offset_ns[i] == UNKNOWN_NS)
            continue;
        double variance = hub->spread_ns[i] * hub->spread_ns[i] / count +
                          (double)RUN_CLOCK_JITTER_NS * RUN_CLOCK_JITTER_NS;
        hub->edges[hub->edge_count++] = (struct clock_edge){
            .clock = hub->group->ranks[i],
            .hub = hub->index,
            .offset_ns = (double)hub->offset_ns[i],
            .weight = (double)RUN_CLOCK_JITTER_NS * RUN_CLOCK_JITTER_NS / variance,
        };
    }
}

static bool compare_group(struct hub *hub, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, hub->comm->budget);
    int64_t *copy = arena_room(&scratch, hub->match_count, sizeof *copy, err);
    bool ok = copy && make_hub(hub, &scratch, err);
    if (ok) {
        list_ends(hub);
        begin_offsets(hub);
        for (int round = 0; round < REFINE; round++) {
            find_middles(hub);
            for (uint32_t i = 0; i < hub->group->rank_count; i++)
                refine(hub, i, copy);
        }
        add_edges(hub);
    }
    arena_free(&scratch);
    return ok;
}

// --- all groups ---------------------------------------------------------------------------------

static bool is_joint(const struct run_comm *comm, const struct comm_match *match)
{
    return run_comm_is_joint(comm->ops[match->op].kind);
}

// The joint collectives of a group are consecutive.
static uint32_t list_hubs(struct run_comm *comm, const struct clock_slice *slice, uint32_t *joint,
                          struct clock_edge *edges, struct hub *hubs)
{
    uint32_t count = 0;
    for (uint32_t first = 0, last; first < comm->match_count; first = last) {
        uint32_t group = comm->ops[comm->matches[first].op].group;
        struct hub hub = {.comm = comm,
                          .matches = joint,
                          .group = &comm->groups[group],
                          .index = count,
                          .edges = edges};
        for (last = first;
             last < comm->match_count && comm->ops[comm->matches[last].op].group == group; last++)
            if (is_joint(comm, &comm->matches[last]) && !comm->matches[last].doubtful &&
                run_clock_counts(slice, last))
                joint[hub.match_count++] = last;
        if (hub.match_count == 0)
            continue;
        joint += hub.match_count;
        edges += hub.group->rank_count;
        hubs[count++] = hub;
    }
    return count;
}

static bool compare_in(void *context, size_t from, size_t to, struct err *err)
{
    struct hub *hubs = context;
    for (size_t h = from; h < to; h++)
        if (!compare_group(&hubs[h], err))
            return false;
    return true;
}

// Each group has its own edges, which then close up.
static bool compare_groups(struct run_comm *comm, const struct clock_slice *slice,
                           struct clock_graph *graph, struct arena *scratch, struct err *err)
{
    uint32_t *joint = arena_room(scratch, comm->match_count, sizeof *joint, err);
    struct hub *hubs = arena_room(scratch, (size_t)comm->group_count + 1, sizeof *hubs, err);
    if (!joint || !hubs)
        return false;
    graph->hub_count = list_hubs(comm, slice, joint, graph->edges, hubs);
    if (!crew_each(comm->cores, graph->hub_count, 1, compare_in, hubs, err))
        return false;
    for (uint32_t h = 0; h < graph->hub_count; h++) {
        memmove(graph->edges + graph->edge_count, hubs[h].edges,
                hubs[h].edge_count * sizeof *graph->edges);
        graph->edge_count += hubs[h].edge_count;
    }
    return true;
}

// Edges: at most one per group and rank, because a group's collectives are consecutive; two per
// pair.
bool run_clocks_solve(struct run_comm *comm, const struct clock_pairs *pairs,
                      const struct clock_slice *slice, struct arena *arena,
                      struct clock_graph *graph, struct err *err)
{
    size_t edges = 2 * (size_t)pairs->count;
    for (uint32_t g = 0; g < comm->group_count; g++)
        edges += comm->groups[g].rank_count;
    *graph = (struct clock_graph){.clock_count = comm->rank_count};
    graph->edges = arena_room(arena, edges, sizeof *graph->edges, err);
    graph->offset_ns = arena_array(arena, comm->rank_count, sizeof *graph->offset_ns, err);
    graph->component = arena_array(arena, comm->rank_count, sizeof *graph->component, err);
    return graph->edges && graph->offset_ns && graph->component &&
           compare_groups(comm, slice, graph, arena, err) &&
           run_clock_sends_add(comm, pairs, slice, graph, err) &&
           clock_graph_solve(graph, arena, err);
}

// Offsets of all clocks, as straight as they are known to be.
static bool align(struct run_comm *comm, const struct clock_pairs *pairs, struct err *err)
{
    struct arena scratch;
    struct clock_graph graph;
    const struct clock_slice all = {NULL, RUN_CLOCK_ALL};
    arena_init(&scratch, comm->budget);
    bool ok = run_clocks_solve(comm, pairs, &all, &scratch, &graph, err);
    for (uint32_t r = 0; ok && r < comm->rank_count; r++) {
        comm->ranks[r].offset_ns = llround(graph.offset_ns[r]);
        comm->ranks[r].component = graph.component[r];
    }
    comm->component_count = ok ? graph.component_count : 0;
    arena_free(&scratch);
    return ok;
}

// --- what remains -------------------------------------------------------------------------------

struct middles {
    const struct run_comm *comm;
    int64_t *middle_ns;
};

static bool middle_in(void *context, size_t from, size_t to, struct err *err)
{
    const struct middles *middles = context;
    const struct run_comm *comm = middles->comm;
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    int64_t *values = arena_room(&scratch, 2 * (size_t)comm->rank_count, sizeof *values, err);
    for (size_t m = from; values && m < to; m++) {
        const struct comm_match *match = &comm->matches[m];
        if (!match->tells)
            continue;
        for (uint32_t i = 0; i < match->count; i++) {
            struct comm_member member = comm->members[match->first + i];
            values[i] = run_clock_end(comm, member) + comm->ranks[member.rank].offset_ns;
        }
        middles->middle_ns[m] = run_median(values, values + comm->rank_count, match->count);
    }
    arena_free(&scratch);
    return values != NULL;
}

// The middle of the ends of each useful match on the common clock; room for all matches.
static bool take_middles(const struct run_comm *comm, int64_t *middle_ns, struct err *err)
{
    struct middles middles = {comm, middle_ns};
    return crew_each(comm->cores, comm->match_count, RUN_MATCHES_EACH, middle_in, &middles, err);
}

// 95th percentile: half of a rank's ends may be beyond a jump that was not found.
static void find_error(const struct run_comm *comm, struct comm_rank *rank,
                       const int64_t *middle_ns, int64_t *values)
{
    size_t count = 0;
    for (uint32_t i = 0; i < rank->count; i++) {
        uint32_t match = rank->events[i].match;
        if (match == RUN_NONE || !comm->matches[match].tells)
            continue;
        int64_t apart_ns = run_comm_end(rank, &rank->events[i]) - middle_ns[match];
        values[count++] = apart_ns < 0 ? -apart_ns : apart_ns;
    }
    rank->clock_calls = (uint32_t)count;
    rank->error_ns = count ? stats_quantiles(values, values + rank->count, count).p95 : -1;
}

static bool error_in(void *context, size_t from, size_t to, struct err *err)
{
    const struct middles *middles = context;
    const struct run_comm *comm = middles->comm;
    struct arena scratch;
    uint32_t most = 0;
    for (size_t r = from; r < to; r++)
        most = comm->ranks[r].count > most ? comm->ranks[r].count : most;
    arena_init(&scratch, comm->budget);
    int64_t *values = arena_room(&scratch, 2 * (size_t)most, sizeof *values, err);
    for (size_t r = from; values && r < to; r++)
        find_error(comm, &comm->ranks[r], middles->middle_ns, values);
    arena_free(&scratch);
    return values != NULL;
}

static bool find_errors(struct run_comm *comm, int64_t *middle_ns, struct err *err)
{
    struct middles middles = {comm, middle_ns};
    return crew_each(comm->cores, comm->rank_count, RUN_RANKS_EACH, error_in, &middles, err);
}

static double sum_errors(const struct run_comm *comm)
{
    double sum_ns = 0;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        sum_ns += comm->ranks[r].error_ns > 0 ? (double)comm->ranks[r].error_ns : 0;
    return sum_ns;
}

// Matches of pairs that could not be joined are of no use.
static bool find_rest(struct run_comm *comm, int64_t *middle_ns, struct err *err)
{
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_member *members = &comm->members[comm->matches[m].first];
        comm->matches[m].tells &=
            comm->ranks[members[0].rank].component == comm->ranks[members[1].rank].component;
    }
    return take_middles(comm, middle_ns, err) && find_errors(comm, middle_ns, err);
}

static bool align_again(struct run_comm *comm, const struct clock_pairs *pairs, int64_t *middle_ns,
                        struct err *err)
{
    return align(comm, pairs, err) && find_rest(comm, middle_ns, err);
}

static void forget_strays(struct run_comm *comm)
{
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        comm->ranks[r].drift = 0;
        comm->ranks[r].jump_count = 0;
    }
}

// Keeps drifts and jumps if the ends agree better with them.
static bool straighten(struct run_comm *comm, const struct clock_pairs *pairs, int64_t *middle_ns,
                       struct err *err)
{
    bool strays;
    double before_ns = sum_errors(comm);
    if (!run_clock_strays_find(comm, pairs, middle_ns, &strays, err))
        return false;
    if (!strays)
        return true;
    if (!align_again(comm, pairs, middle_ns, err))
        return false;
    if (sum_errors(comm) < before_ns)
        return true;
    forget_strays(comm);
    return align_again(comm, pairs, middle_ns, err);
}

bool run_clocks_make(struct run_comm *comm, struct err *err)
{
    struct arena scratch;
    struct clock_pairs pairs = {0};
    arena_init(&scratch, comm->budget);
    int64_t *middle_ns = arena_room(&scratch, comm->match_count, sizeof *middle_ns, err);
    for (uint32_t m = 0; m < comm->match_count; m++)
        comm->matches[m].tells = is_joint(comm, &comm->matches[m]) && !comm->matches[m].doubtful;
    forget_strays(comm);
    bool ok = middle_ns && align(comm, &pairs, err) &&
              run_clock_sends_find(comm, &scratch, &pairs, err) &&
              (pairs.count == 0 || align(comm, &pairs, err)) && find_rest(comm, middle_ns, err) &&
              straighten(comm, &pairs, middle_ns, err);
    arena_free(&scratch);
    return ok;
}
