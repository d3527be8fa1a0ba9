// SPDX-License-Identifier: Apache-2.0
// A rank comes down to the median of its peers' sums. What it loses, it loses where it takes longer
// than they do, as far as their nodes correspond: a pause of the host is not all of the host's
// time.
#include "analysis/replay/job_balance.h"

#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "ingest/base/hash.h"

#include <math.h>

enum balanced { BALANCED_COMPUTE, BALANCED_COPIES, BALANCED_HOST, BALANCED_KINDS };

static int kind_of(const struct job_rank *rank, uint32_t node)
{
    const struct facts *facts = rank->whatif->facts;
    enum work_kind work = rank_graph_kind(facts, &rank->whatif->graph, node);
    if (work_is_host(work))
        return BALANCED_HOST;
    if (work != WORK_DEVICE)
        return -1;
    uint8_t class = facts->devices[node].class;
    return class == CLASS_COMPUTE ? BALANCED_COMPUTE : class == CLASS_MEMORY ? BALANCED_COPIES : -1;
}

static bool is_steady(const struct job_rank *rank, uint32_t node)
{
    const struct step *steps = rank->whatif->facts->steps;
    const struct rank_graph *graph = &rank->whatif->graph;
    int64_t begin_ns = rank_graph_begin(rank->whatif->facts, graph, node);
    return graph->step_count > 0 && begin_ns >= steps[graph->steps[0].step].begin_ns &&
           begin_ns < steps[graph->steps[graph->step_count - 1].step].end_ns;
}

// Sums the time within its steady steps, by kind.
static void sum_kinds(const struct job_rank *rank, const int64_t *dur, int64_t *sums)
{
    for (uint32_t n = 0; n < rank->whatif->graph.graph.node_count; n++) {
        int kind = kind_of(rank, n);
        if (kind >= 0 && is_steady(rank, n))
            sums[kind] += dur[n];
    }
}

static uint32_t compute_count(const struct job_rank *rank)
{
    const uint32_t *first = rank->whatif->facts->class_first;
    return first[CLASS_COMPUTE + 1] - first[CLASS_COMPUTE];
}

// The median over the ranks with about as many kernels as this one: stages of a pipeline differ.
static int64_t peer_median(const struct job_replay *job, const int64_t *sums, uint32_t r,
                           int64_t *sorted)
{
    uint32_t peers = 0;
    for (uint32_t o = 0; o < job->rank_count; o++) {
        uint64_t own = compute_count(&job->ranks[r]), other = compute_count(&job->ranks[o]);
        uint64_t apart = own > other ? own - other : other - own;
        if (apart * 50 <= own)
            sorted[peers++] = sums[(size_t)o * BALANCED_KINDS];
    }
    sort_i64(sorted, sorted + job->rank_count, peers);
    return stats_median(sorted, peers);
}

// --- where a rank takes longer -------------------------------------------------------------------

// From this share of the rank's excess in a step on, a node's excess is one of few rather than
// noise.
#define NOTABLE_PIECE 0.05
#define NOTABLE_PART  0.9 // of the excess must be in such nodes

enum { MOST_COMPARED = 63 }; // peers whose nodes are compared one by one

// The nodes of one kind, by rank.
struct kind_nodes {
    uint32_t **at; // per rank: indices of its nodes
    uint32_t *count;
    uint64_t *names; // per rank: hash of their names in order, 0: not made yet
};

static bool list_nodes(const struct job_rank *rank, int kind, struct arena *scratch, uint32_t **at,
                       uint32_t *count, struct err *err)
{
    uint32_t nodes = rank->whatif->graph.graph.node_count, found = 0;
    for (uint32_t n = 0; n < nodes; n++)
        found += kind_of(rank, n) == kind;
    *at = arena_room(scratch, (size_t)found + 1, sizeof **at, err);
    *count = 0;
    for (uint32_t n = 0; *at && n < nodes; n++)
        if (kind_of(rank, n) == kind)
            (*at)[(*count)++] = n;
    return *at != NULL;
}

static str_id name_of(const struct job_rank *rank, uint32_t node)
{
    const struct facts *facts = rank->whatif->facts;
    const struct work_node work = rank_graph_node(facts, &rank->whatif->graph, node);
    return work.kind == WORK_DEVICE ? facts_device_name(facts, work.event)
                                    : facts->trace->name[work.event];
}

static uint64_t names_of(const struct job_replay *job, const struct kind_nodes *nodes, uint32_t r)
{
    const struct job_rank *rank = &job->ranks[r];
    uint64_t hash = 1;
    for (uint32_t i = 0; nodes->names[r] == 0 && i < nodes->count[r]; i++) {
        struct str name =
            facts_short_name(rank->whatif->facts->trace, name_of(rank, nodes->at[r][i]));
        hash = hash_mix(hash, hash_bytes(name.at, name.len)) | 1;
    }
    if (nodes->names[r] == 0)
        nodes->names[r] = hash;
    return nodes->names[r];
}

static bool are_alike(const struct job_replay *job, const struct kind_nodes *nodes, uint32_t a,
                      uint32_t b)
{
    return nodes->count[a] == nodes->count[b] && names_of(job, nodes, a) == names_of(job, nodes, b);
}

// Ranks with nodes of the same names in the same order: theirs correspond, one by one.
static uint32_t list_alike(const struct job_replay *job, const struct kind_nodes *nodes, uint32_t r,
                           uint32_t alike[MOST_COMPARED])
{
    uint32_t all = 0, found = 0, taken = 0;
    for (uint32_t o = 0; o < job->rank_count; o++)
        all += are_alike(job, nodes, o, r);
    for (uint32_t o = 0; o < job->rank_count && found < MOST_COMPARED; o++)
        if (are_alike(job, nodes, o, r) &&
            (uint64_t)taken++ * MOST_COMPARED / (all > MOST_COMPARED ? all : MOST_COMPARED) >=
                found)
            alike[found++] = o;
    return found;
}

static double sum_steady(const struct job_rank *rank, const uint32_t *at, uint32_t count,
                         const double *values)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += is_steady(rank, at[i]) ? values[i] : 0;
    return sum;
}

// By how much each node of the kind takes longer than the median of those that correspond to it, at
// least 0. Returns the sum of those in steady steps.
static double find_excess(const struct job_replay *job, const struct kind_nodes *nodes, uint32_t r,
                          const int64_t *dur, double *excess)
{
    uint32_t alike[MOST_COMPARED], count = list_alike(job, nodes, r, alike);
    int64_t sorted[2 * MOST_COMPARED];
    for (uint32_t i = 0; i < nodes->count[r]; i++) {
        for (uint32_t a = 0; a < count; a++)
            sorted[a] = dur[job->ranks[alike[a]].first + nodes->at[alike[a]][i]];
        sort_i64(sorted, sorted + MOST_COMPARED, count);
        double more =
            (double)(dur[job->ranks[r].first + nodes->at[r][i]] - stats_median(sorted, count));
        excess[i] = more > 0 && count > 1 ? more : 0;
    }
    return sum_steady(&job->ranks[r], nodes->at[r], nodes->count[r], excess);
}

// Keeps only what is notable, if it is nearly all of `more`: then the rest is noise. Returns how
// much is kept.
static double keep_notable(const struct kind_nodes *nodes, const struct job_rank *rank, uint32_t r,
                           double more, double *excess)
{
    uint32_t steps = rank->whatif->graph.step_count;
    double least = NOTABLE_PIECE * more / (steps ? steps : 1), notable = 0, all = 0;
    for (uint32_t i = 0; i < nodes->count[r]; i++) {
        double own = is_steady(rank, nodes->at[r][i]) ? excess[i] : 0;
        notable += own >= least ? own : 0;
        all += own;
    }
    if (notable < NOTABLE_PART * more)
        return all;
    for (uint32_t i = 0; i < nodes->count[r]; i++)
        excess[i] = excess[i] >= least ? excess[i] : 0;
    return notable;
}

// --- all ranks ----------------------------------------------------------------------------------

// Smaller differences are noise, not worth a look at each node.
#define NOTABLE_SHARE 0.005

// While all ranks are balanced; before: the times until then.
struct balancing {
    const struct job_replay *job;
    const struct change_list *list;
    struct kind_nodes nodes;
    const int64_t *before;
    int64_t *dur, *sums, *sorted;
    struct arena *scratch;
};

// Shortens a rank's nodes by a share of their time; `where` it takes longer, if known.
static void relieve(struct balancing *all, uint32_t r, double share, const double *where)
{
    for (uint32_t i = 0; i < all->nodes.count[r]; i++) {
        int64_t *own = &all->dur[all->job->ranks[r].first + all->nodes.at[r][i]];
        *own -= llround(share * (where ? where[i] : (double)*own));
    }
}

static bool balance_rank(struct balancing *all, int kind, uint32_t r, struct err *err)
{
    double own = (double)all->sums[(size_t)r * BALANCED_KINDS + (size_t)kind];
    double more = own - (double)peer_median(all->job, all->sums + kind, r, all->sorted);
    if (more <= 0)
        return true;
    double share = more / own, sum = 0, *where = NULL;
    if (share > NOTABLE_SHARE) {
        where = arena_room(all->scratch, (size_t)all->nodes.count[r] + 1, sizeof *where, err);
        if (!where)
            return false;
        sum = find_excess(all->job, &all->nodes, r, all->before, where);
    }
    bool known = sum >= more / 2; // else they do not correspond
    if (known)
        share = fmin(1, more / keep_notable(&all->nodes, &all->job->ranks[r], r, more, where));
    relieve(all, r, share, known ? where : NULL);
    return true;
}

static bool balance_kind(struct balancing *all, int kind, struct err *err)
{
    const struct job_replay *job = all->job;
    memset(all->nodes.names, 0, job->rank_count * sizeof *all->nodes.names);
    for (uint32_t r = 0; r < job->rank_count; r++)
        if (!list_nodes(&job->ranks[r], kind, all->scratch, &all->nodes.at[r], &all->nodes.count[r],
                        err))
            return false;
    for (uint32_t r = 0; r < job->rank_count; r++)
        if (change_balances(all->list, job->ranks[r].rank) && !balance_rank(all, kind, r, err))
            return false;
    return true;
}

bool job_balance(const struct job_replay *job, const struct change_list *list, int64_t *dur,
                 struct arena *scratch, struct err *err)
{
    size_t count = job->rank_count, nodes = (size_t)job->graph.node_count;
    int64_t *before = arena_room(scratch, nodes + 1, sizeof *before, err);
    struct balancing all = {job,
                            list,
                            {arena_array(scratch, count + 1, sizeof(uint32_t *), err),
                             arena_array(scratch, count + 1, sizeof(uint32_t), err),
                             arena_array(scratch, count + 1, sizeof(uint64_t), err)},
                            before,
                            dur,
                            arena_array(scratch, count * BALANCED_KINDS, sizeof(int64_t), err),
                            arena_room(scratch, 2 * count + 1, sizeof(int64_t), err),
                            scratch};
    if (!before || !all.nodes.at || !all.nodes.count || !all.nodes.names || !all.sums ||
        !all.sorted)
        return false;
    memcpy(before, dur, nodes * sizeof *dur);
    for (uint32_t r = 0; r < count; r++)
        sum_kinds(&job->ranks[r], dur + job->ranks[r].first, all.sums + (size_t)r * BALANCED_KINDS);
    for (int kind = 0; kind < BALANCED_KINDS; kind++)
        if (!balance_kind(&all, kind, err))
            return false;
    return true;
}
