// SPDX-License-Identifier: Apache-2.0
// Groups attention calls into runs: each is one forward through a model, or a tower of it. In a
// generating model, runs follow each other in a unique way: one new position per sequence, and one
// key more than in the previous run. The rules: analysis/WORK.md.
#include "analysis/work/serving_shapes.h"

#include "analysis/facts/attention.h"
#include "analysis/work/attention_size.h"
#include "analysis/names/category.h"
#include "analysis/facts/op_calls.h"
#include "ingest/base/search.h"

#define CACHED     64
#define REACH      16 // operators around a launch to look at
#define LAYERS_MIN 2
#define LINKS_MIN  2  // runs that continue the previous one
#define DRAFT_MAX  64 // most new tokens per sequence of a draft to verify

enum name_kind {
    NAME_UNASKED,
    NAME_OTHER,
    NAME_ATTENTION,
    NAME_LOOKUP,
};

struct cached {
    uint32_t inputs; // index into the trace's op_inputs plus 1, 0: empty
    str_id name;
    bool known;
    struct attention_size size;
};

// Calls of one size without an embedding lookup between them.
struct run {
    struct attention_size size; // of its first call
    uint32_t key, calls;        // keys of each call: walk.keys[key] and following
    uint32_t first, last;       // launches: first of its lookups or calls, last of its calls
    int64_t looked_up;          // by the first lookup before it, that of the tokens; 0 without one
    enum serving_phase phase;
};

struct walk {
    const struct facts *facts;
    uint8_t *names; // enum name_kind per string
    struct cached cache[CACHED];
    int64_t *keys; // NULL while calls are only counted
    struct run *runs;
    uint32_t call_count, run_count;
    uint32_t op;     // of the previous launch
    uint32_t call;   // operator of the latest call
    uint32_t lookup; // launch of the first lookup since, or FACTS_NONE
    int64_t looked_up;
    uint32_t step;      // marks before the current launch
    bool cut;           // there is a mark after the latest call
    uint32_t track;     // of the current launch
    uint32_t row, rows; // track of the first call; how many have calls
    uint32_t end;       // launch after the last one of that row
};

// --- classifying a launch -----------------------------------------------------------------------

static enum name_kind ask(struct walk *walk, str_id name)
{
    if (walk->names[name] == NAME_UNASKED) {
        struct str text = trace_text(walk->facts->trace, name);
        walk->names[name] = str_equal(text, STR("aten::embedding")) ? NAME_LOOKUP
                            : attention_size_known(text)            ? NAME_ATTENTION
                                                                    : NAME_OTHER;
    }
    return (enum name_kind)walk->names[name];
}

// The outermost attention or lookup around an operator, FACTS_NONE if none.
static uint32_t find_around(struct walk *walk, uint32_t op, enum name_kind *kind)
{
    const struct facts *facts = walk->facts;
    uint32_t found = FACTS_NONE;
    *kind = NAME_OTHER;
    for (int i = 0; op != FACTS_NONE && i < REACH; op = facts->op_parent[op], i++) {
        enum name_kind asked = ask(walk, facts->trace->name[op]);
        if (asked == NAME_OTHER || op_calls_inputs(facts->trace, op) == ARGS_NONE)
            continue;
        found = op;
        *kind = asked;
    }
    return found;
}

static bool read_inputs(const struct facts *facts, uint32_t op, struct arg_list *args)
{
    uint32_t index = op_calls_inputs(facts->trace, op);
    if (index == ARGS_NONE)
        return false;
    const struct op_inputs *inputs = &facts->trace->op_inputs[index];
    struct op_arg_texts texts = {.dims = trace_text(facts->trace, inputs->dims),
                                 .types = trace_text(facts->trace, inputs->types)};
    op_args_parse(&texts, args);
    return !args->problem;
}

// Most calls have the inputs of one in the previous layer.
static bool size_of(struct walk *walk, uint32_t op, bool scores, struct attention_size *size)
{
    const struct facts *facts = walk->facts;
    uint32_t inputs = op_calls_inputs(facts->trace, op);
    if (inputs == ARGS_NONE)
        return false;
    str_id name = facts->trace->name[op];
    struct cached *cached = &walk->cache[inputs % CACHED];
    if (cached->inputs != inputs + 1 || cached->name != name) {
        struct arg_list args;
        *cached = (struct cached){.inputs = inputs + 1, .name = name};
        if (read_inputs(facts, op, &args))
            cached->known =
                scores ? attention_size_of_scores(&args, &cached->size)
                       : attention_size_read(trace_text(facts->trace, name), &args, &cached->size);
    }
    *size = cached->size;
    return cached->known;
}

// --- runs ---------------------------------------------------------------------------------------

static bool same_model(const struct attention_size *a, const struct attention_size *b)
{
    return a->heads == b->heads && a->width == b->width &&
           (a->heads || a->sequences == b->sequences);
}

static uint32_t marks_before(const struct facts *facts, uint32_t launch)
{
    int64_t time_ns = facts->trace->begin_ns[facts->launches[launch].event];
    return count_upto_i64(FIRST_OF(facts->steps, mark_begin_ns),
                          facts->marked ? facts->step_count : 0, sizeof *facts->steps, time_ns);
}

// Whether a call opens a run. Without a lookup, one more key means the next token.
static bool opens(const struct walk *walk, const struct attention_size *size)
{
    if (walk->run_count == 0 || walk->cut || walk->looked_up)
        return true;
    const struct run *run = &walk->runs[walk->run_count - 1];
    return !same_model(&run->size, size) || run->size.sequences != size->sequences ||
           run->size.tokens != size->tokens ||
           (!run->looked_up && size->tokens == size->sequences &&
            size->keys == run->size.keys + size->tokens);
}

static void meet_call(struct walk *walk, uint32_t launch, const struct attention_size *size)
{
    uint32_t call = walk->call_count++;
    if (call == 0 || walk->row != walk->track)
        walk->rows++;
    walk->row = walk->track;
    if (!walk->keys)
        return;
    uint32_t step = marks_before(walk->facts, launch);
    walk->cut |= step != walk->step;
    walk->step = step;
    if (opens(walk, size))
        walk->runs[walk->run_count++] =
            (struct run){.size = *size,
                         .key = call,
                         .first = walk->looked_up ? walk->lookup : launch,
                         .looked_up = walk->looked_up};
    walk->keys[call] = size->keys;
    walk->runs[walk->run_count - 1].calls++;
    walk->runs[walk->run_count - 1].last = launch;
    walk->looked_up = 0;
    walk->cut = false;
}

static void meet_lookup(struct walk *walk, uint32_t launch, uint32_t op)
{
    struct arg_list args;
    const struct op_arg *indices =
        walk->keys && read_inputs(walk->facts, op, &args) ? op_args_tensor(&args, 1) : NULL;
    if (!indices || !count_known(indices->elements) || walk->looked_up)
        return;
    walk->lookup = launch;
    walk->looked_up = indices->elements;
}

// Runs do not extend across rows.
static void pass_rows(struct walk *walk, uint32_t event)
{
    const struct track *track = &walk->facts->trace->tracks[walk->track];
    for (; event - track->first >= track->count; track++) {
        walk->track++;
        walk->looked_up = 0;
        walk->cut = true;
    }
}

static void visit(struct walk *walk, uint32_t l)
{
    const struct launch *launch = &walk->facts->launches[l];
    struct attention_size size;
    enum name_kind kind;
    pass_rows(walk, launch->event);
    if (walk->call_count && walk->row == walk->track)
        walk->end = l + 1;
    if (launch->op == FACTS_NONE || launch->op == walk->op)
        return;
    walk->op = launch->op;
    uint32_t op = find_around(walk, launch->op, &kind);
    bool scores =
        op == FACTS_NONE && launch->attention == ATTENTION_SOFTMAX &&
        str_starts_with(trace_text(walk->facts->trace, walk->facts->trace->name[launch->op]),
                        STR("aten::"));
    op = scores ? launch->op : op;
    if (op == FACTS_NONE || op == walk->call)
        return;
    walk->call = op;
    if (kind == NAME_LOOKUP)
        meet_lookup(walk, l, op);
    else if (size_of(walk, op, scores, &size))
        meet_call(walk, l, &size);
}

// --- classifying runs ---------------------------------------------------------------------------

static bool is_single(const struct run *run)
{
    return run->size.tokens == run->size.sequences;
}

static bool is_long(const struct run *run)
{
    return (run->size.tokens - 1) / DRAFT_MAX >= run->size.sequences;
}

static bool same_layers(const struct run *a, const struct run *b)
{
    return a->calls == b->calls && a->calls >= LAYERS_MIN && same_model(&a->size, &b->size);
}

// Whether a run continues what the previous one read. In some layer (not one that attends to an
// encoder's output or through a window) the keys are those of the previous run plus the new ones;
// or they stay the same, as in a cache for the longest text, if each token was looked up once. The
// first run must have started with an empty cache, or not be a draft.
static bool continues(const struct walk *walk, const struct run *a, const struct run *b)
{
    bool looked_up = a->looked_up == a->size.tokens && b->looked_up == b->size.tokens;
    bool sure = is_single(a) || is_long(a);
    if (!same_layers(a, b) || a->size.sequences != b->size.sequences)
        return false;
    for (uint32_t i = 0; i < a->calls; i++) {
        int64_t before = walk->keys[a->key + i], now = walk->keys[b->key + i];
        bool grown = now - before == b->size.tokens && (sure || before == a->size.tokens);
        bool kept = now == before && looked_up && sure && before > a->size.tokens;
        if (grown || kept)
            return true;
    }
    return false;
}

// A few new tokens that attend to older ones in all layers: the end of a prompt, or a draft being
// verified. Then the meaning of single tokens is unknown, too.
static bool may_be_draft(const struct walk *walk, const struct run *run)
{
    if (is_single(run) || is_long(run))
        return false;
    for (uint32_t i = 0; i < run->calls; i++)
        if (walk->keys[run->key + i] <= run->size.tokens)
            return false;
    return true;
}

// Whether each call covers all sequences of its pass: one token of each was looked up. Without
// lookups, micro-batches that ranks send each other cannot be distinguished from layers.
static bool is_whole(const struct walk *walk, const struct run *run)
{
    const struct facts *facts = walk->facts;
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    if (run->size.heads == 0)
        return true; // its tokens are not counted
    if (run->looked_up)
        return run->looked_up == run->size.tokens;
    for (uint32_t c = first[0]; c < first[1]; c++)
        if (str_contains_nocase(
                trace_text(facts->trace, facts_device_name(facts, facts->class_devices[c])),
                STR("sendrecv")))
            return false;
    return true;
}

// A run of the only model that generates, NULL if there is none or several.
static const struct run *find_model(const struct walk *walk)
{
    const struct run *model = NULL;
    uint32_t links = 0;
    for (uint32_t i = 0; i < walk->run_count; i++) {
        const struct run *run = &walk->runs[i];
        if (may_be_draft(walk, run))
            return NULL;
        if (i == 0 || !is_single(run) || !continues(walk, run - 1, run))
            continue;
        if (model ? !same_layers(model, run) : !is_whole(walk, run))
            return NULL;
        model = run;
        links++;
    }
    return links >= LINKS_MIN ? model : NULL;
}

// From last to first: what continues a prompt was read before its first token came.
static uint32_t judge(struct walk *walk, const struct run *model)
{
    uint32_t count = 0;
    for (uint32_t i = walk->run_count; i-- > 0;) {
        struct run *run = &walk->runs[i];
        if (!same_layers(model, run))
            continue;
        if (is_single(run) && (!run->looked_up) == (!model->looked_up))
            run->phase = SERVING_DECODE;
        else if (i + 1 < walk->run_count && run[1].phase && continues(walk, run, run + 1))
            run->phase = SERVING_PREFILL;
        count += run->phase != SERVING_NONE;
    }
    return count;
}

// --- passes -------------------------------------------------------------------------------------

// Launches after the last attention, common to all passes.
static uint32_t find_tail(const struct walk *walk)
{
    uint32_t tail = UINT32_MAX;
    for (uint32_t i = 0; i + 1 < walk->run_count; i++) {
        uint32_t after = walk->runs[i + 1].first - walk->runs[i].last - 1;
        if (walk->runs[i].phase && after < tail)
            tail = after;
    }
    return tail;
}

static struct serving_pass pass_of(const struct run *run)
{
    const struct serving_batch none = {0, 0, 0, 0, 0};
    bool known = run->size.heads > 0;
    struct serving_batch batch = {known ? run->size.sequences : COUNT_UNKNOWN,
                                  known ? run->size.tokens : COUNT_UNKNOWN, COUNT_UNKNOWN,
                                  COUNT_UNKNOWN, COUNT_UNKNOWN};
    return run->phase == SERVING_PREFILL ? (struct serving_pass){run->phase, batch, none}
                                         : (struct serving_pass){run->phase, none, batch};
}

static void add_pass(const struct walk *walk, const struct run *run, uint32_t tail,
                     struct serving_steps *steps)
{
    const struct facts *facts = walk->facts;
    bool is_last = run == &walk->runs[walk->run_count - 1];
    uint32_t end = is_last ? walk->end : run[1].first;
    int64_t until_ns = is_last ? INT64_MAX : facts->trace->begin_ns[facts->launches[end].event];
    if (end - run->last > tail)
        end = run->last + tail + 1;
    int64_t end_ns = facts_event_end(facts->trace, facts->launches[end - 1].event);
    steps->items[steps->count++] = (struct serving_step){
        .mark_begin_ns = facts->trace->begin_ns[facts->launches[run->first].event],
        .mark_end_ns = end_ns < until_ns ? end_ns : until_ns,
        .pass = pass_of(run),
    };
}

static bool add_passes(struct walk *walk, struct arena *arena, struct serving_steps *steps,
                       struct err *err)
{
    const struct run *model = walk->rows == 1 ? find_model(walk) : NULL;
    uint32_t count = model ? judge(walk, model) : 0;
    if (!count)
        return true;
    steps->items = arena_room(arena, count, sizeof *steps->items, err);
    if (!steps->items)
        return false;
    uint32_t tail = find_tail(walk);
    for (uint32_t i = 0; i < walk->run_count; i++)
        if (walk->runs[i].phase)
            add_pass(walk, &walk->runs[i], tail, steps);
    serving_spans(walk->facts, steps);
    return true;
}

static void walk_launches(struct walk *walk, int64_t *keys, struct run *runs)
{
    uint8_t *names = walk->names;
    *walk = (struct walk){.facts = walk->facts,
                          .names = names,
                          .keys = keys,
                          .runs = runs,
                          .op = FACTS_NONE,
                          .call = FACTS_NONE};
    for (uint32_t l = 0; l < walk->facts->launch_count; l++)
        visit(walk, l);
}

static bool is_training(const struct facts *facts)
{
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        const struct launch *launch = &facts->launches[l];
        if (launch->backward || launch->recompute ||
            facts->devices[launch->first].category == CATEGORY_OPTIMIZER)
            return true;
    }
    return false;
}

bool serving_shapes_make(const struct facts *facts, struct arena *arena,
                         struct serving_steps *steps, struct err *err)
{
    size_t size = facts->trace->strings.count;
    struct walk walk = {.facts = facts};
    if (facts->trace->op_inputs_count == 0 || is_training(facts))
        return true;
    walk.names = budget_alloc(facts->budget, size, err);
    if (!walk.names)
        return false;
    memset(walk.names, 0, size);
    walk_launches(&walk, NULL, NULL);
    bool ok = true;
    if (walk.call_count) {
        int64_t *keys = arena_room(arena, walk.call_count, sizeof *keys, err);
        struct run *runs = keys ? arena_room(arena, walk.call_count, sizeof *runs, err) : NULL;
        ok = runs != NULL;
        if (ok)
            walk_launches(&walk, keys, runs);
        ok = ok && add_passes(&walk, arena, steps, err);
    }
    budget_free(facts->budget, walk.names, size);
    return ok;
}
