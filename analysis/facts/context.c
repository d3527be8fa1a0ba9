// SPDX-License-Identifier: Apache-2.0
// Finds module, frame and forward operator of the launches: Python frames give modules, operators
// the rest.
#include "analysis/facts/context.h"

#include "analysis/facts/autograd.h"
#include "analysis/facts/host_stack.h"
#include "analysis/facts/module_tree.h"
#include "analysis/facts/op_calls.h"
#include "analysis/stats/sort.h"
#include "analysis/facts/track_pairs.h"

struct work {
    struct facts *facts;
    struct host_names names;
    struct module_tree tree;
    uint32_t *instance; // per string: the first module with that name, 0 without
    size_t instance_size;
    bool recomputed; // whether any frame repeats a forward
};

// The module of a module frame. Within a repeated forward the modules around the checkpoint are not
// on the stack; the first module there is the instance of its name that the forward had.
static bool enter_module(struct work *work, uint32_t *state, str_id name, bool first_pass,
                         struct err *err)
{
    bool repeats = *state & CONTEXT_RECOMPUTED;
    uint32_t parent = *state & CONTEXT_MODULE_MASK, module = 0;
    if (repeats && first_pass)
        return true;
    if (repeats && !parent)
        module = work->instance[name];
    if (!module && !module_tree_child(&work->tree, parent, name, &module, err))
        return false;
    if (!repeats && !work->instance[name])
        work->instance[name] = module;
    if (first_pass)
        work->tree.modules[module].calls++;
    *state = module | (repeats ? CONTEXT_RECOMPUTED : 0);
    return true;
}

static bool enter_frame(struct work *work, uint32_t *state, uint32_t event, bool first_pass,
                        struct err *err)
{
    str_id name = work->facts->trace->name[event];
    enum host_name kind = work->names.kinds[name];
    if (kind == NAME_MODULE)
        return enter_module(work, state, name, first_pass, err);
    if (kind == NAME_RECOMPUTE) {
        *state = CONTEXT_RECOMPUTED;
        work->recomputed = true;
    } else if (kind == NAME_RUN_BACKWARD && *state & CONTEXT_RECOMPUTED) {
        *state = (*state & CONTEXT_MODULE_MASK) | CONTEXT_ENGINE;
    }
    return true;
}

static bool walk_frames(struct work *work, struct host_stack *stack, bool first_pass,
                        struct err *err)
{
    const struct trace *trace = work->facts->trace;
    uint32_t *states = work->facts->frame_state, event, parent;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        if (trace->tracks[t].family != TRACK_PYTHON)
            continue;
        host_stack_start(stack, &trace->tracks[t], HOST_STACK_FRAMES);
        do {
            if (!host_stack_next(stack, &event, &parent, err))
                return false;
            uint32_t state = event == FACTS_NONE || parent == FACTS_NONE ? 0 : states[parent];
            if (event == FACTS_NONE)
                break;
            if (!enter_frame(work, &state, event, first_pass, err))
                return false;
            states[event] = state;
        } while (true);
    }
    return true;
}

// Repeated forwards are placed in a second pass, when all modules of the first are known.
static bool place_frames(struct work *work, struct err *err)
{
    struct facts *facts = work->facts;
    const struct trace *trace = facts->trace;
    bool any = false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        any |= trace->tracks[t].family == TRACK_PYTHON;
    if (!any)
        return true;
    facts->frame_state = arena_array(facts->arena, trace->event_count, sizeof(uint32_t), err);
    work->instance_size = trace->strings.count * sizeof(uint32_t);
    work->instance = budget_alloc(facts->budget, work->instance_size, err);
    if (!facts->frame_state || !work->instance)
        return false;
    memset(work->instance, 0, work->instance_size);
    struct host_stack stack;
    host_stack_init(&stack, trace, facts->budget);
    bool ok = walk_frames(work, &stack, true, err) &&
              (!work->recomputed || walk_frames(work, &stack, false, err));
    host_stack_free(&stack);
    return ok;
}

// The row of an event, searched from `track` on.
static uint32_t track_of(const struct trace *trace, uint32_t track, uint32_t event)
{
    while (event - trace->tracks[track].first >= trace->tracks[track].count)
        track++;
    return track;
}

// A frame around the start of a call cannot return before it, whatever the clocks say about its
// end.
bool context_find_frames(const struct facts *facts, struct keyed *events, uint32_t count,
                         struct err *err)
{
    const struct trace *trace = facts->trace;
    struct arena arena;
    arena_init(&arena, facts->budget);
    struct host_stack stack;
    host_stack_init(&stack, trace, facts->budget);
    uint32_t *python_of = NULL, track = FACTS_NONE, python = FACTS_NONE;
    bool ok = track_pairs_make(trace, TRACK_PYTHON, &arena, &python_of, err);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t event = (uint32_t)events[i].key;
        if (track == FACTS_NONE ||
            event - trace->tracks[track].first >= trace->tracks[track].count) {
            track = track_of(trace, track == FACTS_NONE ? 0 : track, event);
            python = python_of[track];
            if (python != FACTS_NONE)
                host_stack_start(&stack, &trace->tracks[python], HOST_STACK_FRAMES);
        }
        events[i].b = FACTS_NONE;
        if (python != FACTS_NONE)
            ok = host_stack_find(&stack, trace->begin_ns[event], trace->begin_ns[event],
                                 &events[i].b, err);
    }
    host_stack_free(&stack);
    arena_free(&arena);
    return ok;
}

// launch.module still holds the text of a hierarchy, which counts if no frame gives a module.
static bool settle_module(struct work *work, struct launch *launch, uint32_t frame, struct err *err)
{
    uint32_t state = frame == FACTS_NONE ? 0 : work->facts->frame_state[frame];
    str_id hierarchy = launch->module;
    launch->module = state & CONTEXT_MODULE_MASK;
    return launch->module || !hierarchy ||
           module_tree_hierarchy(&work->tree, hierarchy, &launch->module, err);
}

// A repeated forward works for the module it runs in, not for the node that requested it. What the
// engine does there outside nodes, such as adding gradients, is backward.
static void settle_frame(const struct work *work, struct launch *launch, uint32_t frame)
{
    uint32_t state = frame == FACTS_NONE ? 0 : work->facts->frame_state[frame];
    launch->frame = frame;
    if (state & CONTEXT_ENGINE && launch->recompute) {
        launch->recompute = false;
        launch->backward = true;
    }
    if (!(state & CONTEXT_RECOMPUTED))
        return;
    launch->recompute = true;
    launch->backward = false;
    launch->forward = FACTS_NONE;
}

// The frame of each launch, then the module of those that work for where they are.
static bool place_launches(struct work *work, struct keyed *events, struct err *err)
{
    struct facts *facts = work->facts;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        events[l] = (struct keyed){facts->launches[l].event, l, FACTS_NONE};
    if (facts->frame_state && !context_find_frames(facts, events, facts->launch_count, err))
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        struct launch *launch = &facts->launches[l];
        settle_frame(work, launch, events[l].b);
        if (!launch->backward && !settle_module(work, launch, launch->frame, err))
            return false;
    }
    return true;
}

// The module of backward launches: where their forward operator ran.
static bool place_backward(struct work *work, struct keyed *events, struct err *err)
{
    struct facts *facts = work->facts;
    uint32_t count = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        struct launch *launch = &facts->launches[l];
        if (launch->backward && launch->forward == FACTS_NONE)
            launch->module = 0;
        else if (launch->backward)
            events[count++] = (struct keyed){launch->forward, l, FACTS_NONE};
    }
    sort_keyed(events, events + facts->launch_count, count);
    if (facts->frame_state && !context_find_frames(facts, events, count, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!settle_module(work, &facts->launches[events[i].a], events[i].b, err))
            return false;
    return true;
}

static bool settle(struct work *work, struct err *err)
{
    struct facts *facts = work->facts;
    size_t size = 2 * (size_t)facts->launch_count * sizeof(struct keyed);
    struct keyed *events = budget_alloc(facts->budget, size, err);
    bool ok = events && place_launches(work, events, err) && place_backward(work, events, err) &&
              module_tree_finish(&work->tree, facts, err);
    budget_free(facts->budget, events, size);
    return ok;
}

bool context_make(struct facts *facts, struct err *err)
{
    struct work work = {.facts = facts};
    bool ok = host_names_make(&work.names, facts->trace, facts->budget, err) &&
              module_tree_init(&work.tree, facts->trace, facts->budget, err) &&
              place_frames(&work, err) && autograd_assign(facts, &work.names, err) &&
              settle(&work, err) && op_calls_make(facts, err);
    if (work.tree.modules)
        module_tree_free(&work.tree);
    host_names_free(&work.names, facts->budget);
    budget_free(facts->budget, work.instance, work.instance_size);
    return ok;
}

static bool op_around(const struct facts *facts, uint32_t event, uint32_t *op, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct host_stack stack;
    host_stack_init(&stack, trace, facts->budget);
    host_stack_start(&stack, &trace->tracks[track_of(trace, 0, event)], HOST_STACK_OPS);
    uint32_t at = FACTS_NONE;
    bool ok = true;
    do
        ok = host_stack_next(&stack, &at, op, err);
    while (ok && at != event && at != FACTS_NONE);
    host_stack_free(&stack);
    return ok;
}

bool context_at(const struct facts *facts, uint32_t event, struct context *context, struct err *err)
{
    struct keyed key = {event, 0, FACTS_NONE};
    *context = (struct context){FACTS_NONE, FACTS_NONE, 0};
    if (!op_around(facts, event, &context->op, err) ||
        (facts->frame_state && !context_find_frames(facts, &key, 1, err)))
        return false;
    context->frame = key.b;
    if (context->frame != FACTS_NONE)
        context->module = facts->frame_state[context->frame] & CONTEXT_MODULE_MASK;
    return true;
}

static void prepend(char *path, size_t *at, struct str text)
{
    *at -= text.len;
    memcpy(path + *at, text.at, text.len);
}

struct str context_module_path(const struct facts *facts, uint32_t module, struct arena *arena,
                               struct err *err)
{
    char path[CONTEXT_PATH_MAX];
    size_t at = sizeof path;
    bool whole = true;
    for (uint32_t m = module; m && whole; m = facts->modules[m].parent) {
        struct str name = facts->modules[m].name;
        whole = at >= name.len + sizeof ".../";
        if (m != module)
            prepend(path, &at, STR("/"));
        prepend(path, &at, whole ? name : STR("..."));
    }
    struct str text = {path + at, sizeof path - at};
    text.at = arena_strdup(arena, text, err);
    return text.at ? text : (struct str){NULL, 0};
}
