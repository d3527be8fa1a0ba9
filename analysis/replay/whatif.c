// SPDX-License-Identifier: Apache-2.0
// A change counts by what it changes between two replays, so that what the graph does not explain
// cancels out.
#include "analysis/replay/whatif.h"

#include "analysis/replay/overlap.h"

#include <math.h>

struct path_span whatif_span(const struct rank_graph *graph, uint32_t step, const int64_t *dur,
                             const int64_t *end)
{
    const struct work_step *borders = &graph->steps[step];
    return (struct path_span){.graph = &graph->graph,
                              .dur = dur,
                              .end = end,
                              .node = borders->end.node,
                              .begin_ns = rank_graph_at(&borders->begin, dur, end),
                              .end_ns = rank_graph_at(&borders->end, dur, end)};
}

static void replay_steps(const struct rank_graph *graph, const int64_t *dur, int64_t *end,
                         int64_t *step_ns)
{
    replay_run(&graph->graph, dur, end);
    for (uint32_t s = 0; s < graph->step_count; s++) {
        struct path_span span = whatif_span(graph, s, dur, end);
        step_ns[s] = span.end_ns - span.begin_ns;
    }
}

bool whatif_ends(const struct whatif *whatif, struct arena *arena, int64_t **end, struct err *err)
{
    const struct replay_graph *graph = &whatif->graph.graph;
    *end = arena_room(arena, (size_t)graph->node_count + 1, sizeof **end, err);
    if (*end)
        replay_run(graph, whatif->graph.dur, *end);
    return *end != NULL;
}

bool whatif_replay(const struct whatif *whatif, const int64_t *dur, struct arena *scratch,
                   double *gain_ns, struct err *err)
{
    const struct rank_graph *graph = &whatif->graph;
    uint32_t count = graph->step_count;
    int64_t *end = arena_room(scratch, (size_t)graph->graph.node_count + 1, sizeof *end, err);
    int64_t *step_ns = arena_room(scratch, (size_t)count + 1, sizeof *step_ns, err);
    *gain_ns = 0;
    if (!end || !step_ns || !replay_fits(&graph->graph, dur, err))
        return false;
    replay_steps(graph, dur, end, step_ns);
    for (uint32_t s = 0; s < count; s++)
        *gain_ns += (double)(whatif->base_ns[s] - step_ns[s]) / count;
    return true;
}

static bool replay_base(struct whatif *whatif, struct arena *arena, struct err *err)
{
    struct arena scratch;
    const struct rank_graph *graph = &whatif->graph;
    arena_init(&scratch, whatif->facts->budget);
    int64_t *end = arena_room(&scratch, (size_t)graph->graph.node_count + 1, sizeof *end, err);
    int64_t *base_ns = arena_room(arena, (size_t)graph->step_count + 1, sizeof *base_ns, err);
    if (end && base_ns)
        replay_steps(graph, graph->dur, end, base_ns);
    arena_free(&scratch);
    whatif->base_ns = base_ns;
    return end && base_ns;
}

bool whatif_open(const struct facts *facts, struct arena *arena, struct arena *edges,
                 struct whatif *whatif, struct err *err)
{
    *whatif = (struct whatif){.facts = facts};
    if (facts->device_count == 0 || facts->launch_count == 0) {
        whatif->refused =
            facts->device_count ? "its launches were not recorded" : "it has no device events";
        return true;
    }
    struct rank_graph *graph = &whatif->graph;
    if (!rank_graph_make(facts, arena, edges, graph, err)) {
        bool judged = err->code == ERR_FORMAT;
        whatif->refused = judged ? arena_strdup(arena, str_of(err->msg), err) : NULL;
        return whatif->refused != NULL;
    }
    return replay_base(whatif, arena, err);
}

double whatif_doubt(const struct change_list *list)
{
    bool structure = false;
    for (uint32_t c = 0; c < list->count; c++)
        structure =
            structure || list->at[c].action == CHANGE_OVERLAP || list->at[c].action == CHANGE_DROP;
    return structure ? WHATIF_STRUCTURE_DOUBT : WHATIF_DOUBT;
}

bool whatif_is_of_communication(const struct whatif *whatif, const struct change_list *list,
                                const int64_t *dur)
{
    const struct facts *facts = whatif->facts;
    bool changed = change_overlaps(list);
    for (uint32_t i = 0; !changed && i < facts->device_count; i++)
        changed = facts->devices[i].class == CLASS_COMMUNICATION && dur[i] != whatif->graph.dur[i];
    return changed;
}

// Student's t, as they may be few.
double whatif_spread(uint32_t steps)
{
    static const double t[] = {6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83};
    double own = steps - 2 < sizeof t / sizeof *t ? t[steps - 2] : 1.8;
    return own * sqrt(1 + 1 / (double)steps);
}

struct range {
    double mean, low, high;
};

// What further steps stay within, as far as so few steps show.
static struct range range_of(const struct whatif_answer *answer,
                             double (*value)(const struct whatif_step *step))
{
    double mean = 0, squares = 0;
    uint32_t count = answer->step_count;
    for (uint32_t s = 0; s < count; s++)
        mean += value(&answer->steps[s]) / count;
    for (uint32_t s = 0; s < count; s++)
        squares += pow(value(&answer->steps[s]) - mean, 2);
    double half = whatif_spread(count) * sqrt(squares / (count - 1));
    return (struct range){mean, mean - half, mean + half};
}

static double gain_of(const struct whatif_step *step)
{
    return (double)(step->replayed_ns - step->changed_ns);
}

static double candidate_of(const struct whatif_step *step)
{
    return (double)step->measured_ns - gain_of(step);
}

static double measured_of(const struct whatif_step *step)
{
    return (double)step->measured_ns;
}

// All of the communication may have been waiting, which no change of it shortens.
static void allow_waits(struct whatif_answer *answer, double off_ns)
{
    answer->high_ns = fmax(answer->high_ns, range_of(answer, measured_of).high + off_ns);
    answer->gain_low_ns = fmin(answer->gain_low_ns, 0);
}

// Steps differ by themselves, too; what a change brings may differ far less.
static void find_intervals(struct whatif_answer *answer)
{
    struct range gain = range_of(answer, gain_of), candidate = range_of(answer, candidate_of);
    double off_ns = fmax(answer->error_share, WHATIF_LEAST_ERROR) * answer->measured_ns +
                    answer->doubt_share * fabs(gain.mean);
    answer->low_ns = fmax(candidate.low - off_ns, 0);
    answer->high_ns = candidate.high + off_ns;
    answer->gain_low_ns = gain.low - off_ns;
    answer->gain_high_ns = fmin(gain.high + off_ns, answer->measured_ns);
    if (answer->hides_waits)
        allow_waits(answer, off_ns);
}

static void sum_up(struct whatif_answer *answer)
{
    double error_ns = 0;
    for (uint32_t s = 0; s < answer->step_count; s++) {
        const struct whatif_step *step = &answer->steps[s];
        double measured = (double)step->measured_ns, replayed = (double)step->replayed_ns;
        double off = fabs(replayed - measured);
        answer->measured_ns += measured / answer->step_count;
        answer->replayed_ns += replayed / answer->step_count;
        answer->changed_ns += (double)step->changed_ns / answer->step_count;
        error_ns += off / answer->step_count;
        answer->worst_error_share = fmax(answer->worst_error_share, off / measured);
    }
    answer->error_share = error_ns / answer->measured_ns;
    answer->candidate_ns = answer->measured_ns - (answer->replayed_ns - answer->changed_ns);
    answer->has_interval = answer->step_count > 1;
    if (answer->has_interval)
        find_intervals(answer);
}

static bool refuse(struct whatif_answer *answer, struct arena *arena, struct err *err)
{
    if (answer->step_count == 0)
        answer->refused = "it has no steady step";
    else if (answer->known_share < WHATIF_MIN_KNOWN)
        answer->refused = arena_printf(
            arena, err,
            "only %.0f %% of its device time follows a recorded launch or event, expected %.0f %%",
            100 * answer->known_share, 100 * WHATIF_MIN_KNOWN);
    else if (answer->error_share > WHATIF_MAX_ERROR)
        answer->refused = arena_printf(
            arena, err,
            "the unchanged replay is off from the steps by %.1f %%, expected at most %.0f %%",
            100 * answer->error_share, 100 * WHATIF_MAX_ERROR);
    else
        return true;
    return answer->refused != NULL;
}

// --- the path -----------------------------------------------------------------------------------

struct summing {
    const struct whatif *whatif;
    struct path_sums *sums;
};

static bool add_piece(void *context, const struct path_piece *piece, struct err *err)
{
    const struct summing *summing = context;
    const struct whatif *whatif = summing->whatif;
    (void)err;
    enum path_part part =
        piece->is_delay ? PATH_DELAY : path_part_of(whatif->facts, &whatif->graph, piece->node);
    summing->sums->ns[part] += piece->ns;
    return true;
}

// Times and ends of all nodes.
struct replayed {
    int64_t *dur, *end;
};

static bool sum_path(const struct whatif *whatif, const struct replayed *replayed,
                     const struct whatif_answer *answer, struct path_sums *sums, struct err *err)
{
    struct summing summing = {whatif, sums};
    const struct path_reader reader = {add_piece, &summing};
    *sums = (struct path_sums){{0}};
    for (uint32_t s = 0; s < answer->step_count; s++) {
        const struct path_span span = whatif_span(&whatif->graph, s, replayed->dur, replayed->end);
        if (!critical_path_read(&span, &reader, err))
            return false;
        sums->ns[PATH_ERROR] += answer->steps[s].measured_ns - answer->steps[s].replayed_ns;
    }
    return true;
}

// --- overlap ------------------------------------------------------------------------------------

// The rank in whose graph nothing else waits for what the changes overlap.
static bool overlap_rank(const struct whatif *whatif, const struct change_list *list,
                         struct arena *scratch, struct whatif *changed, struct err *err)
{
    const struct replay_graph *graph = &whatif->graph.graph;
    struct overlap overlap;
    *changed = *whatif;
    return !change_overlaps(list) ||
           (overlap_open(&overlap, graph->node_count, scratch, err) &&
            overlap_add(&overlap, list, whatif->facts, &whatif->graph, 0, err) &&
            overlap_make(&overlap, graph, scratch, &changed->graph.graph, err));
}

bool whatif_view(const struct whatif *whatif, const struct change_list *list, struct arena *arena,
                 struct replay_view *view, struct err *err)
{
    const struct rank_graph *graph = &whatif->graph;
    int64_t touched_ns[CHANGE_MOST];
    struct whatif changed;
    view->dur = arena_room(arena, (size_t)graph->graph.node_count + 1, sizeof *view->dur, err);
    if (!view->dur || !change_apply(list, whatif->facts, graph, view->dur, touched_ns, err) ||
        !overlap_rank(whatif, list, arena, &changed, err))
        return false;
    view->graph = changed.graph.graph;
    return true;
}

// --- answers ------------------------------------------------------------------------------------

static bool replay_changed(const struct whatif *whatif, const struct change_list *list,
                           struct arena *arena, struct whatif_answer *answer,
                           struct path_sums *path, struct err *err)
{
    const struct rank_graph *graph = &whatif->graph;
    struct arena scratch;
    arena_init(&scratch, whatif->facts->budget);
    size_t room = (size_t)graph->graph.node_count + 1;
    struct replayed all = {arena_room(&scratch, room, sizeof *all.dur, err), NULL};
    int64_t *changed_ns =
        arena_room(&scratch, (size_t)graph->step_count + 1, sizeof *changed_ns, err);
    struct whatif_step *steps =
        arena_room(arena, (size_t)graph->step_count + 1, sizeof *steps, err);
    bool ok = all.dur && changed_ns && steps &&
              change_apply(list, whatif->facts, graph, all.dur, answer->touched_ns, err);
    size_t bytes = graph->graph.node_count * sizeof *all.dur;
    // It selects nothing.
    bool same = ok && !path && !change_overlaps(list) && memcmp(all.dur, graph->dur, bytes) == 0;
    struct whatif changed;
    ok = ok && (same || (overlap_rank(whatif, list, &scratch, &changed, err) &&
                         replay_fits(&changed.graph.graph, all.dur, err) &&
                         (all.end = arena_room(&scratch, room, sizeof *all.end, err))));
    if (ok && same)
        memcpy(changed_ns, whatif->base_ns, graph->step_count * sizeof *changed_ns);
    else if (ok)
        replay_steps(&changed.graph, all.dur, all.end, changed_ns);
    for (uint32_t s = 0; ok && s < graph->step_count; s++) {
        const struct step *step = &whatif->facts->steps[graph->steps[s].step];
        steps[s] = (struct whatif_step){step->number, step->end_ns - step->begin_ns,
                                        whatif->base_ns[s], changed_ns[s]};
    }
    answer->steps = steps;
    answer->step_count = graph->step_count;
    answer->hides_waits = ok && whatif->facts->identity.world_size > 1 &&
                          whatif_is_of_communication(whatif, list, all.dur);
    ok = ok && (!path || sum_path(&changed, &all, answer, path, err));
    arena_free(&scratch);
    return ok;
}

bool whatif_conclude(const struct rank_graph *graph, struct arena *arena,
                     struct whatif_answer *answer, struct err *err)
{
    answer->violated = graph->violated;
    answer->known_share =
        (double)graph->known_ns / (double)(graph->device_ns ? graph->device_ns : 1);
    if (answer->step_count)
        sum_up(answer);
    return refuse(answer, arena, err);
}

bool whatif_change(const struct whatif *whatif, const struct change_list *list, struct arena *arena,
                   struct whatif_answer *answer, struct path_sums *path, struct err *err)
{
    const struct rank_graph *graph = &whatif->graph;
    *answer = (struct whatif_answer){.refused = whatif->refused};
    if (whatif->refused)
        return true;
    answer->doubt_share = whatif_doubt(list);
    if (!replay_changed(whatif, list, arena, answer, path, err))
        return false;
    return whatif_conclude(graph, arena, answer, err);
}
