// SPDX-License-Identifier: Apache-2.0
// Nodes are those of the ranks, then one per call of a rank at which it arrives, then one per joint
// call, then one per rank for the start of its recording.
#include "analysis/replay/job_replay.h"

#include "analysis/replay/job_balance.h"
#include "analysis/replay/overlap.h"

struct job_join {
    uint32_t first, count; // members
};

struct job_build {
    struct job_replay *job;
    const struct run_comm *comm;
    struct arena *arena, *scratch;
    uint32_t *arrival_of; // per node of a rank: where it arrives, or REPLAY_NONE
    uint32_t own_count, arrival_count, member_count;
    struct replay_edge *edges;
    size_t edge_count;
};

static const struct facts *facts_of(const struct job_rank *rank)
{
    return rank->whatif->facts;
}

// --- joint calls --------------------------------------------------------------------------------

// Whether a device event was launched then, as far as that is known: a send and a receive may start
// and end together.
static bool launched_at(const struct facts *facts, uint32_t device, int64_t launch_ns)
{
    uint32_t launch = facts->devices[device].launch;
    return launch == FACTS_NONE || launch_ns == INT64_MIN ||
           facts->trace->begin_ns[facts->launches[launch].event] == launch_ns;
}

// The node of a call: the device event that starts then. REPLAY_NONE: not found.
static uint32_t node_of(const struct job_build *build, const struct comm_member *member)
{
    const struct comm_rank *known = &build->comm->ranks[member->rank];
    const struct job_rank *rank = &build->job->ranks[member->rank];
    const struct facts *facts = facts_of(rank);
    const struct comm_event *event = &known->events[member->event];
    int64_t shift_ns = facts->begin_ns - known->origin_ns, begin_ns = event->begin_ns + shift_ns;
    int64_t launch_ns = event->launch_ns + (event->launch_ns == INT64_MIN ? 0 : shift_ns);
    uint32_t at = facts_devices_before(facts, begin_ns);
    for (; at < facts->device_count && facts->devices[at].begin_ns == begin_ns; at++)
        if (facts->devices[at].class == CLASS_COMMUNICATION &&
            facts->devices[at].end_ns - facts->devices[at].begin_ns == event->dur_ns &&
            launched_at(facts, at, launch_ns))
            return rank->first + at;
    return REPLAY_NONE;
}

// A send that had ended before its receive started went through a buffer: nobody waited.
static bool overlap(const struct run_comm *comm, const struct comm_match *match)
{
    int64_t latest_ns = INT64_MIN, first_end_ns = INT64_MAX;
    for (uint32_t m = match->first; m < match->first + match->count; m++) {
        const struct comm_rank *rank = &comm->ranks[comm->members[m].rank];
        const struct comm_event *event = &rank->events[comm->members[m].event];
        int64_t begin_ns = run_comm_begin(rank, event), end_ns = run_comm_end(rank, event);
        latest_ns = begin_ns > latest_ns ? begin_ns : latest_ns;
        first_end_ns = end_ns < first_end_ns ? end_ns : first_end_ns;
    }
    return latest_ns < first_end_ns;
}

static bool joins(const struct run_comm *comm, const struct comm_match *match)
{
    enum collective_kind kind = comm->ops[match->op].kind;
    bool together = run_comm_is_joint(kind) || (run_comm_is_p2p(kind) && overlap(comm, match));
    return together && match->count >= 2;
}

static void add_join(struct job_build *build, const struct comm_match *match)
{
    struct job_replay *job = build->job;
    struct job_join *join = &job->joins[job->join_count];
    uint32_t arrivals = build->arrival_count;
    *join = (struct job_join){build->member_count, 0};
    for (uint32_t m = match->first; m < match->first + match->count; m++) {
        uint32_t node = node_of(build, &build->comm->members[m]);
        if (node == REPLAY_NONE)
            continue;
        job->members[build->member_count++] = node;
        join->count++;
        if (build->arrival_of[node] == REPLAY_NONE)
            build->arrival_of[node] = build->own_count + build->arrival_count++;
    }
    if (join->count >= 2) {
        job->join_count++;
        return;
    }
    if (build->arrival_count > arrivals) // of the only member
        build->arrival_of[job->members[join->first]] = REPLAY_NONE;
    build->arrival_count = arrivals;
    build->member_count = join->first;
}

static bool list_joins(struct job_build *build, struct err *err)
{
    const struct run_comm *comm = build->comm;
    struct job_replay *job = build->job;
    job->joins = arena_room(build->arena, (size_t)comm->match_count + 1, sizeof *job->joins, err);
    job->members =
        arena_room(build->arena, (size_t)comm->member_count + 1, sizeof *job->members, err);
    build->arrival_of =
        arena_room(build->scratch, (size_t)build->own_count + 1, sizeof(uint32_t), err);
    if (!job->joins || !job->members || !build->arrival_of)
        return false;
    for (uint32_t n = 0; n < build->own_count; n++)
        build->arrival_of[n] = REPLAY_NONE;
    for (uint32_t m = 0; m < comm->match_count; m++)
        if (joins(comm, &comm->matches[m]))
            add_join(build, &comm->matches[m]);
    job->first_arrival = build->own_count;
    job->first_join = build->own_count + build->arrival_count;
    job->first_origin = job->first_join + job->join_count;
    return true;
}

// --- edges --------------------------------------------------------------------------------------

static void add_edge(struct job_build *build, uint32_t from, uint32_t to, int32_t lag)
{
    build->edges[build->edge_count++] = (struct replay_edge){from, to, lag};
}

static void add_rank(struct job_build *build, uint32_t r)
{
    const struct job_rank *rank = &build->job->ranks[r];
    const struct replay_graph *own = &rank->whatif->graph.graph;
    for (uint32_t n = 0; n < own->node_count; n++) {
        uint32_t arrival = build->arrival_of[rank->first + n];
        uint32_t to = arrival == REPLAY_NONE ? rank->first + n : arrival;
        uint32_t edges = replay_edges_to(own, n);
        for (uint32_t k = 0; k < edges; k++) {
            struct replay_edge edge = replay_edge_to(own, n, k);
            add_edge(build, rank->first + edge.from, to, edge.lag);
        }
        if (edges == 0)
            add_edge(build, build->job->first_origin + r, to, 0);
    }
}

static void add_joins(struct job_build *build)
{
    const struct job_replay *job = build->job;
    for (uint32_t j = 0; j < job->join_count; j++)
        for (uint32_t m = 0; m < job->joins[j].count; m++) {
            uint32_t node = job->members[job->joins[j].first + m];
            add_edge(build, build->arrival_of[node], job->first_join + j, 0);
            add_edge(build, job->first_join + j, node, 0);
        }
}

// When each recording starts on the common clock.
static bool place_origins(struct job_build *build, struct err *err)
{
    struct job_replay *job = build->job;
    int64_t least_ns = INT64_MAX;
    job->origin_ns = arena_room(build->arena, (size_t)job->rank_count + 1, sizeof(int64_t), err);
    if (!job->origin_ns)
        return false;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct comm_rank *known = &build->comm->ranks[r];
        int64_t begin_ns = known->origin_ns - facts_of(&job->ranks[r])->begin_ns +
                           job->ranks[r].whatif->graph.begin_ns;
        job->origin_ns[r] = begin_ns + run_comm_offset(known, begin_ns);
        least_ns = job->origin_ns[r] < least_ns ? job->origin_ns[r] : least_ns;
    }
    for (uint32_t r = 0; r < job->rank_count; r++)
        job->origin_ns[r] -= least_ns;
    return true;
}

static bool build_all(struct job_build *build, struct err *err)
{
    struct job_replay *job = build->job;
    size_t edges = 0;
    uint64_t nodes = 0;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct replay_graph *own = &job->ranks[r].whatif->graph.graph;
        job->ranks[r].first = (uint32_t)nodes;
        nodes += own->node_count;
        edges += (size_t)own->edge_count + own->node_count;
        if (nodes > UINT32_MAX / 4)
            return err_set(err, ERR_LIMIT, "the ranks have too many events to replay together");
    }
    build->own_count = (uint32_t)nodes;
    if (!list_joins(build, err) || !place_origins(build, err))
        return false;
    build->edges = arena_room(build->scratch, edges + 2 * (size_t)build->member_count + 1,
                              sizeof *build->edges, err);
    if (!build->edges)
        return false;
    for (uint32_t r = 0; r < job->rank_count; r++)
        add_rank(build, r);
    add_joins(build);
    return replay_graph_make(build->edges, build->edge_count, job->first_origin + job->rank_count,
                             build->arena, &job->graph, err);
}

// --- answers ------------------------------------------------------------------------------------

// Times and ends of all nodes.
struct replayed {
    int64_t *dur, *end;
};

// What ranks do together takes as long as on the one that waited least.
static void join_times(const struct job_replay *job, int64_t *dur)
{
    for (uint32_t j = 0; j < job->join_count; j++) {
        const uint32_t *members = &job->members[job->joins[j].first];
        int64_t least_ns = dur[members[0]];
        for (uint32_t m = 1; m < job->joins[j].count; m++)
            least_ns = dur[members[m]] < least_ns ? dur[members[m]] : least_ns;
        dur[job->first_join + j] = least_ns;
    }
    for (uint32_t j = 0; j < job->join_count; j++)
        for (uint32_t m = 0; m < job->joins[j].count; m++)
            dur[job->members[job->joins[j].first + m]] = 0;
    for (uint32_t r = 0; r < job->rank_count; r++)
        dur[job->first_origin + r] = job->origin_ns[r];
}

// A border of the rank's steps in a replay of all. What ranks do together takes no time of its own.
static int64_t border_at(const struct job_replay *job, uint32_t r, const struct work_border *border,
                         const struct replayed *all)
{
    uint32_t first = job->ranks[r].first;
    int64_t at_ns = rank_graph_at(border, all->dur + first, all->end + first);
    return border->node == REPLAY_NONE ? at_ns + job->origin_ns[r] : at_ns;
}

static struct path_span span_of(const struct job_replay *job, uint32_t r,
                                const struct replayed *all, uint32_t step)
{
    const struct work_step *borders = &job->ranks[r].whatif->graph.steps[step];
    uint32_t node = borders->end.node;
    return (struct path_span){.graph = &job->graph,
                              .dur = all->dur,
                              .end = all->end,
                              .node = node == REPLAY_NONE ? node : job->ranks[r].first + node,
                              .begin_ns = border_at(job, r, &borders->begin, all),
                              .end_ns = border_at(job, r, &borders->end, all)};
}

// --- the path -----------------------------------------------------------------------------------

struct summing {
    const struct job_replay *job;
    struct job_path *path;
};

static uint32_t rank_with(const struct job_replay *job, uint32_t node)
{
    uint32_t low = 0, high = job->rank_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (job->ranks[middle].first <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// The rank that a delay belongs to: that of what it delayed or, after the last work, that of the
// steps.
static uint32_t delayed_rank(const struct summing *summing, uint32_t node)
{
    const struct job_replay *job = summing->job;
    if (node == REPLAY_NONE || (node >= job->first_join && node < job->first_origin))
        return summing->path->rank;
    if (node >= job->first_origin)
        return node - job->first_origin;
    if (node < job->first_arrival)
        return rank_with(job, node);
    uint32_t from = replay_edge_to(&job->graph, node, 0).from; // what arrives belongs to one rank
    return from < job->first_origin ? rank_with(job, from) : from - job->first_origin;
}

static enum path_part add_work(const struct summing *summing, uint32_t node, int64_t ns)
{
    const struct job_replay *job = summing->job;
    if (node >= job->first_join && node < job->first_origin) {
        summing->path->joint_ns += ns;
        return PATH_COMMUNICATION;
    }
    bool is_origin = node >= job->first_origin;
    uint32_t r = is_origin ? node - job->first_origin : rank_with(job, node);
    const struct job_rank *rank = &job->ranks[r];
    summing->path->ranks[r].own_ns += ns;
    return is_origin ? PATH_UNRECORDED
                     : path_part_of(facts_of(rank), &rank->whatif->graph, node - rank->first);
}

static bool add_piece(void *context, const struct path_piece *piece, struct err *err)
{
    const struct summing *summing = context;
    enum path_part part = PATH_DELAY;
    (void)err;
    if (piece->is_delay)
        summing->path->ranks[delayed_rank(summing, piece->node)].delay_ns += piece->ns;
    else
        part = add_work(summing, piece->node, piece->ns);
    summing->path->sums.ns[part] += piece->ns;
    return true;
}

static bool sum_path(const struct job_replay *job, const struct replayed *all,
                     const struct whatif_answer *answers, struct job_path *path, struct err *err)
{
    struct summing summing = {job, path};
    const struct path_reader reader = {add_piece, &summing};
    const struct whatif_answer *answer = &answers[path->rank];
    path->sums = (struct path_sums){{0}};
    memset(path->ranks, 0, job->rank_count * sizeof *path->ranks);
    path->joint_ns = 0;
    for (uint32_t s = 0; s < answer->step_count; s++) {
        const struct path_span span = span_of(job, path->rank, all, s);
        if (!critical_path_read(&span, &reader, err))
            return false;
        path->sums.ns[PATH_ERROR] += answer->steps[s].measured_ns - answer->steps[s].replayed_ns;
    }
    return true;
}

// --- all ranks ----------------------------------------------------------------------------------

static bool replay(const struct job_replay *job, int64_t *dur, int64_t *end, struct err *err)
{
    join_times(job, dur);
    if (!replay_fits(&job->graph, dur, err))
        return false;
    replay_run(&job->graph, dur, end);
    return true;
}

static int64_t step_of(const struct job_replay *job, uint32_t r, const struct replayed *all,
                       uint32_t step)
{
    struct path_span span = span_of(job, r, all, step);
    return span.end_ns - span.begin_ns;
}

// Replays the ranks as they were recorded.
static bool replay_base(struct job_replay *job, struct arena *arena, struct arena *scratch,
                        struct err *err)
{
    size_t nodes = (size_t)job->graph.node_count + 1, steps = 0;
    int64_t *dur = arena_array(scratch, nodes, sizeof *dur, err);
    int64_t *end = arena_room(scratch, nodes, sizeof *end, err);
    for (uint32_t r = 0; dur && r < job->rank_count; r++) {
        const struct rank_graph *graph = &job->ranks[r].whatif->graph;
        memcpy(dur + job->ranks[r].first, graph->dur, graph->graph.node_count * sizeof *dur);
        job->ranks[r].first_step = (uint32_t)steps;
        steps += graph->step_count;
    }
    job->base_ns = arena_room(arena, steps + 1, sizeof *job->base_ns, err);
    if (!dur || !end || !job->base_ns || !replay(job, dur, end, err))
        return false;
    const struct replayed all = {dur, end};
    for (uint32_t r = 0; r < job->rank_count; r++)
        for (uint32_t s = 0; s < job->ranks[r].whatif->graph.step_count; s++)
            job->base_ns[job->ranks[r].first_step + s] = step_of(job, r, &all, s);
    return true;
}

bool job_replay_make(struct job_rank *ranks, const struct run_comm *comm, struct arena *arena,
                     struct job_replay *job, struct err *err)
{
    struct arena scratch;
    *job = (struct job_replay){.ranks = ranks, .rank_count = comm->rank_count};
    arena_init(&scratch, comm->budget);
    struct job_build build = {.job = job, .comm = comm, .arena = arena, .scratch = &scratch};
    bool ok = build_all(&build, err) && replay_base(job, arena, &scratch, err);
    arena_free(&scratch);
    return ok;
}

static bool start_answer(const struct job_replay *job, uint32_t r, struct arena *arena,
                         struct whatif_answer *answer, struct err *err)
{
    const struct job_rank *rank = &job->ranks[r];
    const struct rank_graph *graph = &rank->whatif->graph;
    struct whatif_step *steps =
        arena_array(arena, (size_t)graph->step_count + 1, sizeof *steps, err);
    *answer = (struct whatif_answer){.steps = steps, .step_count = graph->step_count};
    for (uint32_t s = 0; steps && s < graph->step_count; s++) {
        const struct step *step = &facts_of(rank)->steps[graph->steps[s].step];
        steps[s].number = step->number;
        steps[s].measured_ns = step->end_ns - step->begin_ns;
        steps[s].replayed_ns = steps[s].changed_ns = job->base_ns[rank->first_step + s];
    }
    return steps != NULL;
}

static void fill_steps(const struct job_replay *job, const struct replayed *all,
                       struct whatif_answer *answers)
{
    for (uint32_t r = 0; r < job->rank_count; r++) {
        struct whatif_step *steps = (struct whatif_step *)(uintptr_t)answers[r].steps;
        for (uint32_t s = 0; s < answers[r].step_count; s++)
            steps[s].changed_ns = step_of(job, r, all, s);
    }
}

// answers NULL: how much time is selected is not wanted.
static bool change_all(const struct job_replay *job, const struct change_list *list, int64_t *dur,
                       struct whatif_answer *answers, struct err *err)
{
    int64_t nowhere[CHANGE_MOST];
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct whatif *whatif = job->ranks[r].whatif;
        if (!change_apply(list, whatif->facts, &whatif->graph, dur + job->ranks[r].first,
                          answers ? answers[r].touched_ns : nowhere, err))
            return false;
    }
    return true;
}

// Whether the changes left all times as they were recorded.
static bool is_unchanged(const struct job_replay *job, const int64_t *dur)
{
    for (uint32_t r = 0; r < job->rank_count; r++) {
        const struct rank_graph *graph = &job->ranks[r].whatif->graph;
        if (memcmp(dur + job->ranks[r].first, graph->dur, graph->graph.node_count * sizeof *dur))
            return false;
    }
    return true;
}

// Where ranks arrive at a call together belongs to the stream of the call.
static void place_arrivals(const struct job_replay *job, struct overlap *overlap)
{
    for (uint32_t j = 0; j < job->join_count; j++)
        for (uint32_t m = 0; m < job->joins[j].count; m++) {
            uint32_t arrival = replay_edge_to(&job->graph, job->first_join + j, m).from;
            overlap->lane[arrival] = overlap->lane[job->members[job->joins[j].first + m]];
        }
}

// The job in whose graph nothing else waits for what the changes overlap.
static bool overlap_job(const struct job_replay *job, const struct change_list *list,
                        struct arena *scratch, struct job_replay *changed, struct err *err)
{
    struct overlap overlap;
    *changed = *job;
    if (!change_overlaps(list))
        return true;
    if (!overlap_open(&overlap, job->graph.node_count, scratch, err))
        return false;
    for (uint32_t r = 0; r < job->rank_count; r++)
        if (!overlap_add(&overlap, list, facts_of(&job->ranks[r]), &job->ranks[r].whatif->graph,
                         job->ranks[r].first, err))
            return false;
    place_arrivals(job, &overlap);
    return overlap_make(&overlap, &job->graph, scratch, &changed->graph, err);
}

bool job_replay_view(const struct job_replay *job, const struct change_list *list,
                     struct arena *arena, struct replay_view *view, struct err *err)
{
    struct job_replay changed;
    view->dur = arena_array(arena, (size_t)job->graph.node_count + 1, sizeof *view->dur, err);
    if (!view->dur || !change_all(job, list, view->dur, NULL, err) ||
        (list->balanced && !job_balance(job, list, view->dur, arena, err)) ||
        !overlap_job(job, list, arena, &changed, err))
        return false;
    join_times(job, view->dur);
    view->graph = changed.graph;
    return true;
}

// What is asked of all ranks.
struct asked {
    const struct change_list *list;
    struct whatif_answer *answers;
    struct job_path *path; // NULL: nobody asks
    struct arena *scratch;
};

int64_t job_replay_missing(const struct job_rank *ranks, uint32_t count)
{
    int64_t world = 0;
    for (uint32_t r = 0; r < count; r++) {
        int64_t size = facts_of(&ranks[r])->identity.world_size;
        world = size > world ? size : world;
    }
    return world > count ? world - count : 0;
}

// Which answers count waits for absent ranks as communication that gets shorter.
static void note_waits(const struct job_replay *job, const struct asked *asked, const int64_t *dur)
{
    bool hides = false;
    if (job_replay_missing(job->ranks, job->rank_count) == 0)
        return;
    for (uint32_t r = 0; !hides && r < job->rank_count; r++)
        hides = whatif_is_of_communication(job->ranks[r].whatif, asked->list,
                                           dur + job->ranks[r].first);
    for (uint32_t r = 0; r < job->rank_count; r++)
        asked->answers[r].hides_waits = hides;
}

static bool replay_changed(const struct job_replay *job, const struct asked *asked, struct err *err)
{
    size_t nodes = (size_t)job->graph.node_count + 1;
    struct replayed all = {arena_array(asked->scratch, nodes, sizeof *all.dur, err), NULL};
    if (!all.dur || !change_all(job, asked->list, all.dur, asked->answers, err) ||
        (asked->list->balanced && !job_balance(job, asked->list, all.dur, asked->scratch, err)))
        return false;
    if (!asked->path && !change_overlaps(asked->list) && is_unchanged(job, all.dur))
        return true;
    struct job_replay changed;
    note_waits(job, asked, all.dur);
    all.end = arena_room(asked->scratch, nodes, sizeof *all.end, err);
    if (!all.end || !overlap_job(job, asked->list, asked->scratch, &changed, err) ||
        !replay(&changed, all.dur, all.end, err))
        return false;
    fill_steps(&changed, &all, asked->answers);
    return !asked->path || sum_path(&changed, &all, asked->answers, asked->path, err);
}

bool job_replay_change(const struct job_replay *job, const struct change_list *list,
                       struct arena *arena, struct whatif_answer *answers, struct job_path *path,
                       struct err *err)
{
    bool ok = true, changes = list->count > 0 || list->balanced;
    struct arena scratch;
    arena_init(&scratch, arena->budget);
    for (uint32_t r = 0; ok && r < job->rank_count; r++)
        ok = start_answer(job, r, arena, &answers[r], err);
    const struct asked asked = {list, answers, path, &scratch};
    ok = ok && (!(changes || path) || replay_changed(job, &asked, err));
    for (uint32_t r = 0; ok && r < job->rank_count; r++) {
        answers[r].doubt_share = whatif_doubt(list);
        ok = whatif_conclude(&job->ranks[r].whatif->graph, arena, &answers[r], err);
    }
    arena_free(&scratch);
    return ok;
}
