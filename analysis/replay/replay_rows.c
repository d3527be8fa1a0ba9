// SPDX-License-Identifier: Apache-2.0
// What a trace's steady steps waited for, by category, operator, kernel and module, and what
// ready-made changes would bring.
#include "analysis/replay/replay_rows.h"

#include "analysis/facts/context.h"
#include "analysis/names/category.h"
#include "analysis/replay/breakpoint.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/stats/groups.h"
#include "ingest/base/crew.h"
#include "ingest/base/figures.h"

#include <assert.h>
#include <stdlib.h>

enum {
    MOST_OFF_PATH = 200, // rows of each kind
    MOST_BREAKPOINTS = 12,
    MOST_QUESTIONS = 32
};

#define LEAST_BREAKPOINT 0.01 // of the steps; no breakpoint is looked for below

enum by { BY_PART, BY_CATEGORY, BY_OPERATOR, BY_KERNEL, BY_MODULE, BY_COUNT };

static const char *const by_words[BY_COUNT] = {"part", "category", "operator", "kernel", "module"};

// What has one name, at one level.
struct place {
    enum by by;
    enum path_part part;
    uint64_t name; // a text of the trace, of a category its number + 1, a module's index; 0: none
    int64_t path_ns, total_ns, slack_ns;
    int64_t breakpoint_ns;     // -1: not asked for
    uint32_t steps, last_step; // last_step: plus one, of those that are counted
};

struct placing {
    const struct whatif *whatif;
    int64_t *end; // of each node in the unchanged replay
    struct groups groups;
    struct place *places;
    size_t room;
    uint32_t step;
    uint32_t few[BY_OPERATOR][PATH_PARTS][CATEGORY_COUNT + 1]; // index + 1 of parts and categories
};

// --- names --------------------------------------------------------------------------------------

static uint32_t module_of(const struct facts *facts, const struct work_node *work)
{
    if (facts->module_count < 2)
        return 0;
    uint32_t launch = work->kind == WORK_DEVICE ? facts->devices[work->event].launch
                                                : facts_launch_by(facts, work->event);
    return launch == FACTS_NONE ? 0 : facts->launches[launch].module;
}

static void names_of_device(const struct facts *facts, uint32_t device, uint64_t *names)
{
    names[BY_CATEGORY] = facts->devices[device].category + 1u;
    names[BY_OPERATOR] = facts_device_op(facts, device);
    names[BY_KERNEL] = facts_device_name(facts, device);
}

static void names_of_host(const struct facts *facts, uint32_t event, uint64_t *names)
{
    uint32_t op = facts->op_parent[event];
    names[BY_OPERATOR] = op == FACTS_NONE ? 0 : facts->trace->name[op];
    names[BY_KERNEL] = facts->trace->name[event];
}

// A node's name at each level, 0 where it has none; none at all for REPLAY_NONE.
static void names_of(const struct whatif *whatif, uint32_t node, uint64_t names[BY_COUNT])
{
    const struct facts *facts = whatif->facts;
    memset(names, 0, BY_COUNT * sizeof *names);
    if (node == REPLAY_NONE)
        return;
    const struct work_node work = rank_graph_node(facts, &whatif->graph, node);
    if (work.kind == WORK_DEVICE)
        names_of_device(facts, work.event, names);
    else if (work_is_host(work.kind))
        names_of_host(facts, work.event, names);
    else
        return;
    names[BY_MODULE] = module_of(facts, &work);
}

// --- sums ---------------------------------------------------------------------------------------

static struct place *add_place(struct placing *placing, enum by by, enum path_part part,
                               uint64_t name, struct err *err)
{
    uint32_t before = placing->groups.count, index;
    if (!groups_index(&placing->groups, (uint64_t)by << 8 | part, name, &index, err))
        return NULL;
    struct place *places = budget_room(placing->groups.budget, placing->places, &placing->room,
                                       (size_t)index + 1, sizeof *places, err);
    if (!places)
        return NULL;
    placing->places = places;
    if (index == before)
        places[index] = (struct place){
            .by = by, .part = part, .name = name, .slack_ns = REPLAY_UNBOUND, .breakpoint_ns = -1};
    return &places[index];
}

static struct place *find_place(struct placing *placing, enum by by, enum path_part part,
                                uint64_t name, struct err *err)
{
    uint32_t *few = by < BY_OPERATOR ? &placing->few[by][part][name] : NULL;
    if (few && *few)
        return &placing->places[*few - 1];
    struct place *place = add_place(placing, by, part, name, err);
    if (place && few)
        *few = (uint32_t)(place - placing->places) + 1;
    return place;
}

static bool add_to_path(struct placing *placing, enum path_part part, uint32_t node, int64_t ns,
                        struct err *err)
{
    uint64_t names[BY_COUNT];
    names_of(placing->whatif, node, names);
    for (enum by by = BY_PART; by < BY_COUNT; by++) {
        struct place *place = find_place(placing, by, part, names[by], err);
        if (!place)
            return false;
        place->path_ns += ns;
        place->steps += place->last_step != placing->step + 1;
        place->last_step = placing->step + 1;
    }
    return true;
}

static bool add_piece(void *context, const struct path_piece *piece, struct err *err)
{
    struct placing *placing = context;
    const struct whatif *whatif = placing->whatif;
    enum path_part part =
        piece->is_delay ? PATH_DELAY : path_part_of(whatif->facts, &whatif->graph, piece->node);
    return add_to_path(placing, part, piece->node, piece->ns, err);
}

// Adds the paths of the unchanged replay.
static bool add_paths(struct placing *placing, struct err *err)
{
    const struct whatif *whatif = placing->whatif;
    const struct path_reader reader = {add_piece, placing};
    for (uint32_t s = 0; s < whatif->graph.step_count; s++) {
        const struct step *step = &whatif->facts->steps[whatif->graph.steps[s].step];
        const struct path_span span =
            whatif_span(&whatif->graph, s, whatif->graph.dur, placing->end);
        int64_t error_ns = step->end_ns - step->begin_ns - (span.end_ns - span.begin_ns);
        placing->step = s;
        if (!critical_path_read(&span, &reader, err) ||
            (error_ns && !add_to_path(placing, PATH_ERROR, REPLAY_NONE, error_ns, err)))
            return false;
    }
    return true;
}

// --- slack --------------------------------------------------------------------------------------

static int64_t *make_slack(const struct placing *placing, struct arena *arena, struct err *err)
{
    const struct whatif *whatif = placing->whatif;
    const struct rank_graph *graph = &whatif->graph;
    uint32_t *ends = arena_array(arena, graph->step_count, sizeof *ends, err);
    int64_t *slack = arena_room(arena, graph->graph.node_count, sizeof *slack, err);
    struct replay_nodes targets = {ends, 0};
    for (uint32_t s = 0; ends && s < graph->step_count; s++)
        if (graph->steps[s].end.node != REPLAY_NONE)
            ends[targets.count++] = graph->steps[s].end.node;
    if (ends && slack)
        replay_slack_to(&graph->graph, graph->dur, placing->end, &targets, slack);
    return ends ? slack : NULL;
}

static bool add_node(struct placing *placing, uint32_t node, int64_t slack_ns, struct err *err)
{
    const struct whatif *whatif = placing->whatif;
    enum path_part part = path_part_of(whatif->facts, &whatif->graph, node);
    uint64_t names[BY_COUNT];
    names_of(whatif, node, names);
    for (enum by by = BY_PART; by < BY_COUNT; by++) {
        struct place *place = find_place(placing, by, part, names[by], err);
        if (!place)
            return false;
        figures_sum(&place->total_ns, whatif->graph.dur[node]);
        place->slack_ns = slack_ns < place->slack_ns ? slack_ns : place->slack_ns;
    }
    return true;
}

// All nodes that start in a steady step.
static bool add_nodes(struct placing *placing, struct arena *arena, struct err *err)
{
    const struct whatif *whatif = placing->whatif;
    const struct rank_graph *graph = &whatif->graph;
    const int64_t *slack = make_slack(placing, arena, err);
    const struct step *steps = whatif->facts->steps;
    if (!slack || graph->step_count == 0)
        return slack != NULL;
    int64_t from_ns = steps[graph->steps[0].step].begin_ns;
    int64_t to_ns = steps[graph->steps[graph->step_count - 1].step].end_ns;
    for (uint32_t n = 0; n < graph->graph.node_count; n++) {
        int64_t begin_ns = rank_graph_begin(whatif->facts, graph, n);
        if (begin_ns >= from_ns && begin_ns < to_ns && graph->dur[n] > 0 &&
            !add_node(placing, n, slack[n], err))
            return false;
    }
    return true;
}

// --- breakpoints --------------------------------------------------------------------------------

struct asked {
    const struct whatif *whatif;
    struct place *place;
};

static bool find_breakpoint(void *context, struct err *err)
{
    const struct asked *asked = context;
    struct place *place = asked->place;
    const struct path_kernel kernel = {place->part, (str_id)place->name, place->path_ns};
    return breakpoint_find(asked->whatif, &kernel, &place->breakpoint_ns, err);
}

// Finds those of the kernels that hold the steps up most; places are sorted.
static bool find_breakpoints(struct placing *placing, int64_t steps_ns, struct err *err)
{
    struct asked asked[MOST_BREAKPOINTS];
    struct crew_task tasks[MOST_BREAKPOINTS];
    unsigned count = 0;
    for (uint32_t i = 0; i < placing->groups.count && count < MOST_BREAKPOINTS; i++) {
        struct place *place = &placing->places[i];
        bool is_kernel = place->by == BY_KERNEL && place->name && place->part <= PATH_MEMORY;
        if (!is_kernel || (double)place->path_ns < LEAST_BREAKPOINT * (double)steps_ns)
            continue;
        asked[count] = (struct asked){placing->whatif, place};
        tasks[count] = (struct crew_task){.run = find_breakpoint, .context = &asked[count]};
        count++;
    }
    return crew_run(facts_cores(placing->whatif->facts), tasks, count, err);
}

// --- rows ---------------------------------------------------------------------------------------

static int by_weight(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->by != b->by)
        return a->by < b->by ? -1 : 1;
    if (a->path_ns != b->path_ns)
        return a->path_ns > b->path_ns ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

// NULL text on failure.
static struct str text_of(const struct placing *placing, const struct place *place,
                          struct arena *scratch, struct err *err)
{
    const struct facts *facts = placing->whatif->facts;
    if (place->by == BY_CATEGORY && place->name)
        return str_of(category_word((enum category)(place->name - 1)));
    if (place->by == BY_MODULE)
        return context_module_path(facts, (uint32_t)place->name, scratch, err);
    return trace_text(facts->trace, (str_id)place->name);
}

static bool add_row(const struct placing *placing, const struct place *place, int64_t steps_ns,
                    struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, placing->groups.budget);
    struct str name = text_of(placing, place, &scratch, err);
    bool is_work = place->part != PATH_DELAY && place->part != PATH_ERROR;
    struct row row = {.desc = &table_critical_path};
    row_word(&row, CRITICAL_PATH_BY, by_words[place->by]);
    row_word(&row, CRITICAL_PATH_PART, path_part_word(place->part));
    row_text_if(&row, CRITICAL_PATH_NAME, place->name != 0, name);
    row_i64(&row, CRITICAL_PATH_PATH_NS, place->path_ns);
    row_share(&row, CRITICAL_PATH_PATH_SHARE, place->path_ns, steps_ns);
    row_i64(&row, CRITICAL_PATH_STEPS, place->steps);
    row_i64_if(&row, CRITICAL_PATH_TOTAL_NS, is_work, place->total_ns);
    row_i64_if(&row, CRITICAL_PATH_SLACK_NS, is_work && place->slack_ns != REPLAY_UNBOUND,
               place->slack_ns);
    row_i64_if(&row, CRITICAL_PATH_BREAKPOINT_NS, place->breakpoint_ns >= 0, place->breakpoint_ns);
    bool ok = (!place->name || name.at) && row_end(&row, report, err);
    arena_free(&scratch);
    return ok;
}

static bool add_rows(struct placing *placing, int64_t steps_ns, struct report *report,
                     struct err *err)
{
    uint32_t off_path[BY_COUNT] = {0};
    for (uint32_t i = 0; i < placing->groups.count; i++) {
        const struct place *place = &placing->places[i];
        if (place->steps == 0 && ++off_path[place->by] > MOST_OFF_PATH)
            continue;
        if (!add_row(placing, place, steps_ns, report, err))
            return false;
    }
    return true;
}

// --- what is asked ------------------------------------------------------------------------------

static bool show_path(const struct whatif *whatif, const struct whatif_answer *base,
                      struct report *report, struct err *err)
{
    struct placing placing = {.whatif = whatif};
    struct arena arena;
    int64_t steps_ns = 0;
    for (uint32_t s = 0; s < base->step_count; s++)
        steps_ns += base->steps[s].measured_ns;
    groups_init(&placing.groups, whatif->facts->budget);
    arena_init(&arena, whatif->facts->budget);
    bool ok = whatif_ends(whatif, &arena, &placing.end, err) && add_paths(&placing, err) &&
              add_nodes(&placing, &arena, err);
    if (ok && placing.groups.count)
        qsort(placing.places, placing.groups.count, sizeof *placing.places, by_weight);
    arena_free(&arena);
    ok = ok && find_breakpoints(&placing, steps_ns, err);
    ok = ok && add_rows(&placing, steps_ns, report, err);
    budget_free(placing.groups.budget, placing.places, placing.room * sizeof *placing.places);
    groups_free(&placing.groups);
    return ok;
}

// One question, with its own rows: threads share only the replay.
struct question {
    const struct whatif *whatif;
    const struct whatif_answer *base;
    const char *change; // ready-made; NULL: where the time goes
    struct arena arena;
    struct report report;
};

static bool show_change(const struct question *question, struct arena *scratch,
                        struct report *report, struct err *err)
{
    struct change_list list = {.count = 0};
    struct whatif_answer answer;
    if (!change_parse(str_of(question->change), &list, err) ||
        !whatif_change(question->whatif, &list, scratch, &answer, NULL, err))
        return false;
    struct row row = {.desc = &table_ready_changes};
    row_word(&row, READY_CHANGES_CHANGE, question->change);
    row_f64(&row, READY_CHANGES_STEP_NS, answer.candidate_ns);
    row_f64(&row, READY_CHANGES_GAIN_NS, answer.measured_ns - answer.candidate_ns);
    row_f64_if(&row, READY_CHANGES_LOW_NS, answer.has_interval, answer.low_ns);
    row_f64_if(&row, READY_CHANGES_HIGH_NS, answer.has_interval, answer.high_ns);
    return row_end(&row, report, err);
}

static bool answer_question(void *context, struct err *err)
{
    struct question *question = context;
    struct arena scratch;
    if (!question->change)
        return show_path(question->whatif, question->base, &question->report, err);
    arena_init(&scratch, question->whatif->facts->budget);
    bool ok = show_change(question, &scratch, &question->report, err);
    arena_free(&scratch);
    return ok;
}

static size_t list_questions(const struct whatif *whatif, const struct whatif_answer *base,
                             struct question questions[MOST_QUESTIONS])
{
    size_t count = 0;
    questions[count++] = (struct question){.whatif = whatif, .base = base};
    for (const struct change_ready *ready = change_ready_made; ready->name; ready++) {
        assert(count < MOST_QUESTIONS);
        if (!ready->of_ranks && !ready->on_demand)
            questions[count++] = (struct question){.whatif = whatif, .change = ready->name};
    }
    return count;
}

// The rows come in the order of the questions, not that of the threads.
static bool answer_all(const struct whatif *whatif, const struct whatif_answer *base,
                       struct report *report, struct err *err)
{
    struct question *questions = arena_array(report->arena, MOST_QUESTIONS, sizeof *questions, err);
    struct crew_task *tasks = arena_array(report->arena, MOST_QUESTIONS, sizeof *tasks, err);
    if (!questions || !tasks)
        return false;
    size_t count = list_questions(whatif, base, questions);
    for (size_t i = 0; i < count; i++) {
        arena_init(&questions[i].arena, report->arena->budget);
        questions[i].report.arena = &questions[i].arena;
        tasks[i] = (struct crew_task){.run = answer_question, .context = &questions[i]};
    }
    bool ok = crew_run(facts_cores(whatif->facts), tasks, count, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = report_join(report, &questions[i].report, err);
    for (size_t i = 0; i < count; i++)
        arena_free(&questions[i].arena);
    return ok;
}

static bool show(const struct facts *facts, struct arena *arena, struct whatif *whatif,
                 struct report *report, struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    struct whatif_answer base;
    if (!whatif_open(facts, arena, arena, whatif, err) ||
        !whatif_change(whatif, &nothing, arena, &base, NULL, err))
        return false;
    whatif->refused = base.refused;
    return base.refused || answer_all(whatif, &base, report, err);
}

bool replay_of_trace(const struct facts *facts, struct arena *arena, struct whatif *whatif,
                     struct report *report, struct err *err)
{
    bool ok = show(facts, arena, whatif, report, err);
    if (ok || err->code != ERR_LIMIT)
        return ok;
    // The graph takes more memory than any other analysis; without it the others still hold.
    arena_free(arena);
    *whatif = (struct whatif){.refused = "it takes too much memory"};
    *err = (struct err){.pos = ERR_NO_POS};
    return true;
}
