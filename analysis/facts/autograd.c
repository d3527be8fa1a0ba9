// SPDX-License-Identifier: Apache-2.0
// Links backward and forward operators by sequence number, in time order.
//
// An operator that records a gradient has the number its node is about to get, and so does every
// operator since the previous node: nested ones and those that record nothing. The node itself
// takes the number in the last of them, so the latest operator with a number is the one it belongs
// to. Numbers count per thread: a forward on a thread other than the backward's takes precedence,
// except for what a checkpointed function runs inside the engine.
#include "analysis/facts/autograd.h"

#include "analysis/stats/groups.h"
#include "analysis/facts/host_stack.h"
#include "analysis/stats/sort.h"

// An operator with a sequence number.
struct numbered {
    uint32_t event;
    uint32_t checkpoint; // event of the checkpointed function run by the engine around it
    uint32_t track;
    uint32_t forward; // of a node: its operator, or FACTS_NONE
    bool node;        // of the backward
};

// The context of an operator, including itself.
struct around {
    uint32_t node;       // index into numbered + 1 of the innermost backward operator, or 0
    uint32_t checkpoint; // as in numbered
    str_id hierarchy;
    bool backward, recompute;
    bool repeated; // of a checkpointed function: its forward is done, and the engine runs inside it
};

struct autograd {
    struct facts *facts;
    const struct host_names *names;
    struct numbered *numbered;
    uint32_t count;
    struct around *around; // per event of the current row
    uint32_t next_launch;
};

static const struct around nowhere = {.checkpoint = FACTS_NONE};

static const struct op_args *args_of(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->args[event];
    return args == ARGS_NONE ? NULL : &trace->op_args[args];
}

static bool has_number(const struct trace *trace, uint32_t event)
{
    return trace->kind[event] == EVENT_CPU_OP && trace->args[event] != ARGS_NONE &&
           trace->op_args[trace->args[event]].sequence != VALUE_ABSENT;
}

static str_id hierarchy_of(const struct trace *trace, uint32_t event)
{
    const struct op_args *args = args_of(trace, event);
    return args && args->inputs != ARGS_NONE ? trace->op_inputs[args->inputs].module : 0;
}

// The engine's operator and the node it evaluates have one number and count as one.
static bool continues(const struct autograd *work, const struct around *around, uint32_t event)
{
    const struct trace *trace = work->facts->trace;
    if (!around->node || work->names->kinds[trace->name[event]] != NAME_NODE ||
        !has_number(trace, event))
        return false;
    const struct op_args *engine = args_of(trace, work->numbered[around->node - 1].event);
    return engine->sequence == args_of(trace, event)->sequence;
}

static void enter_node(const struct autograd *work, struct around *around, uint32_t event)
{
    enum host_name kind = work->names->kinds[work->facts->trace->name[event]];
    around->backward = true;
    around->node = 0;
    if (kind != NAME_NODE)
        around->recompute = kind == NAME_EVALUATE_CHECKPOINT;
    if (kind == NAME_EVALUATE_CHECKPOINT)
        around->checkpoint = event;
}

// Whether an operator may be a node's forward. What a checkpoint without its own function repeats
// inside the engine is not: its nodes are discarded.
static bool is_forward(const struct autograd *work, const struct around *around, uint32_t event)
{
    bool repeated = around->backward && !around->recompute && work->names->checkpoint;
    return !repeated && !continues(work, around, event);
}

// The state inside an operator, from the state around it.
static struct around enter(struct autograd *work, struct around around, uint32_t event,
                           uint32_t track)
{
    const struct trace *trace = work->facts->trace;
    bool numbered = has_number(trace, event);
    enum host_name kind = work->names->kinds[trace->name[event]];
    bool node = (kind == NAME_EVALUATE || kind == NAME_EVALUATE_CHECKPOINT ||
                 (kind == NAME_NODE && numbered)) &&
                !continues(work, &around, event);
    struct numbered item = {event, around.checkpoint, track, FACTS_NONE, node};
    bool kept = numbered && (node || is_forward(work, &around, event));
    if (node)
        enter_node(work, &around, event);
    if (kept)
        work->numbered[work->count++] = item;
    if (kept && node)
        around.node = work->count;
    str_id hierarchy = hierarchy_of(trace, event);
    if (hierarchy)
        around.hierarchy = hierarchy;
    return around;
}

// Until the join, forward holds the index of the node + 1.
static void place(struct autograd *work, const struct track *track)
{
    struct facts *facts = work->facts;
    for (; work->next_launch < facts->launch_count; work->next_launch++) {
        struct launch *launch = &facts->launches[work->next_launch];
        if (launch->event - track->first >= track->count)
            return;
        const struct around *around =
            launch->op == FACTS_NONE ? &nowhere : &work->around[launch->op - track->first];
        launch->recompute = around->recompute;
        launch->backward = around->backward && !around->recompute;
        launch->forward = launch->backward ? around->node : 0;
        launch->module = around->hierarchy;
    }
}

// What an operator is in. Once the engine evaluates nodes inside a checkpointed function, what runs
// there outside of nodes is no part of the forward any more: gradients are added, for no operator.
static struct around within(const struct autograd *work, const struct track *track, uint32_t parent)
{
    struct around around = parent == FACTS_NONE ? nowhere : work->around[parent - track->first];
    around.repeated = false;
    uint32_t outer = around.checkpoint;
    bool done = outer != FACTS_NONE && work->around[outer - track->first].repeated;
    if (around.recompute && done) {
        around.recompute = false;
        around.node = 0;
    }
    return around;
}

static void note_engine(struct autograd *work, const struct track *track, uint32_t outer,
                        const struct around *inside)
{
    if (outer != FACTS_NONE && (inside->checkpoint != outer || !inside->recompute))
        work->around[outer - track->first].repeated = true;
}

static bool walk(struct autograd *work, struct host_stack *stack, uint32_t index, struct err *err)
{
    const struct trace *trace = work->facts->trace;
    const struct track *track = &trace->tracks[index];
    uint32_t event, parent;
    host_stack_start(stack, track, HOST_STACK_OPS);
    do {
        if (!host_stack_next(stack, &event, &parent, err))
            return false;
        if (event != FACTS_NONE)
            work->facts->op_parent[event] = parent;
        if (event != FACTS_NONE && trace->kind[event] == EVENT_CPU_OP) {
            const struct around around = within(work, track, parent);
            struct around *inside = &work->around[event - track->first];
            *inside = enter(work, around, event, index);
            note_engine(work, track, around.checkpoint, inside);
        }
    } while (event != FACTS_NONE);
    place(work, track);
    return true;
}

static bool walk_all(struct autograd *work, struct err *err)
{
    const struct trace *trace = work->facts->trace;
    struct host_stack stack;
    host_stack_init(&stack, trace, work->facts->budget);
    bool ok = true;
    for (uint32_t t = 0; ok && t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST)
            ok = walk(work, &stack, t, err);
    host_stack_free(&stack);
    return ok;
}

// The latest operators with one number: on any thread, and on any but the latest one's.
struct latest {
    uint32_t any, other; // index into numbered, or FACTS_NONE
};

struct join {
    struct groups keys; // (number, checkpoint)
    struct latest *latest;
    size_t cap;
};

static bool latest_of(struct join *join, uint64_t number, uint64_t checkpoint,
                      struct latest **latest, struct err *err)
{
    uint32_t known = join->keys.count, index;
    if (!groups_index(&join->keys, number, checkpoint, &index, err))
        return false;
    struct latest *all = budget_room(join->keys.budget, join->latest, &join->cap, join->keys.count,
                                     sizeof *all, err);
    if (!all)
        return false;
    join->latest = all;
    if (index == known)
        join->latest[index] = (struct latest){FACTS_NONE, FACTS_NONE};
    *latest = &join->latest[index];
    return true;
}

static void note(const struct autograd *work, struct latest *latest, uint32_t index)
{
    if (latest->any != FACTS_NONE &&
        work->numbered[latest->any].track != work->numbered[index].track)
        latest->other = latest->any;
    latest->any = index;
}

static uint32_t choose(const struct autograd *work, const struct latest *latest, uint32_t node)
{
    uint32_t found = latest->any;
    if (found != FACTS_NONE && latest->other != FACTS_NONE &&
        work->numbered[found].track == work->numbered[node].track)
        found = latest->other;
    return found == FACTS_NONE ? FACTS_NONE : work->numbered[found].event;
}

// Operators inside a checkpointed function are found only under its key.
static bool join_one(struct autograd *work, struct join *join, uint32_t index, struct err *err)
{
    struct numbered *item = &work->numbered[index];
    uint64_t number = (uint64_t)args_of(work->facts->trace, item->event)->sequence;
    struct latest *latest;
    if (!latest_of(join, number, item->checkpoint, &latest, err))
        return false;
    if (!item->node) {
        note(work, latest, index);
        return true;
    }
    item->forward = choose(work, latest, index);
    if (item->forward != FACTS_NONE || item->checkpoint == FACTS_NONE)
        return true;
    if (!latest_of(join, number, FACTS_NONE, &latest, err))
        return false;
    item->forward = choose(work, latest, index);
    return true;
}

static bool join_all(struct autograd *work, struct err *err)
{
    struct budget *budget = work->facts->budget;
    size_t size = 2 * (size_t)work->count * sizeof(struct keyed);
    struct keyed *items = budget_alloc(budget, size, err);
    if (!items)
        return false;
    for (uint32_t i = 0; i < work->count; i++)
        items[i] = (struct keyed){work->facts->trace->begin_ns[work->numbered[i].event], i, 0};
    sort_keyed(items, items + work->count, work->count);
    struct join join = {.latest = NULL};
    groups_init(&join.keys, budget);
    bool ok = true;
    for (uint32_t i = 0; ok && i < work->count; i++)
        ok = join_one(work, &join, items[i].a, err);
    groups_free(&join.keys);
    budget_free(budget, join.latest, join.cap * sizeof *join.latest);
    budget_free(budget, items, size);
    return ok;
}

static void finish(struct autograd *work)
{
    struct facts *facts = work->facts;
    for (uint32_t l = 0; l < facts->launch_count; l++) {
        struct launch *launch = &facts->launches[l];
        uint32_t node = launch->forward;
        launch->forward = node ? work->numbered[node - 1].forward : FACTS_NONE;
        if (launch->forward != FACTS_NONE)
            launch->module = hierarchy_of(facts->trace, launch->forward);
    }
}

bool autograd_assign(struct facts *facts, const struct host_names *names, struct err *err)
{
    const struct trace *trace = facts->trace;
    uint32_t numbered = 0, longest = 0;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        if (track->family != TRACK_HOST)
            continue;
        longest = track->count > longest ? track->count : longest;
        for (uint32_t i = 0; i < track->count; i++)
            numbered += has_number(trace, track->first + i);
    }
    size_t size = numbered * sizeof(struct numbered), row = longest * sizeof(struct around);
    struct autograd work = {.facts = facts, .names = names};
    facts->op_parent = arena_array(facts->arena, trace->event_count, sizeof(uint32_t), err);
    if (!facts->op_parent)
        return false;
    work.numbered = budget_alloc(facts->budget, size, err);
    work.around = work.numbered ? budget_alloc(facts->budget, row, err) : NULL;
    bool ok = work.around && walk_all(&work, err) && (!names->backward || join_all(&work, err));
    if (ok)
        finish(&work);
    budget_free(facts->budget, work.around, row);
    budget_free(facts->budget, work.numbered, size);
    return ok;
}
