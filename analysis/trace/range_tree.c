// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_tree.h"

#include "analysis/facts/gaps.h"
#include "analysis/facts/host_stack.h"
#include "analysis/stats/sort.h"
#include "ingest/base/first_after.h"

// MOST_HELPERS: threads whose collectives are looked up on the main one.
enum { MOST_NODES = 20000, MOST_DEPTH = 64, MOST_HELPERS = 64 };

// --- names --------------------------------------------------------------------------------------

static bool counts_things(struct str before)
{
    static const char *const words[] = {"step",  "iter",  "iteration",
                                        "epoch", "batch", "microbatch"};
    size_t from = before.len;
    while (from > 0 && before.at[from - 1] != ' ' && before.at[from - 1] != '_')
        from--;
    struct str word = {before.at + from, before.len - from};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal_nocase(word, str_of(words[i])))
            return true;
    return false;
}

// Steps have numbers, which make no other range: "ProfilerStep#12", "step 12".
static struct range_name name_of(struct str text)
{
    size_t end = str_digits_start(text, text.len);
    bool hash = end > 0 && text.at[end - 1] == '#';
    bool apart = end > 0 && (text.at[end - 1] == ' ' || text.at[end - 1] == '_');
    bool numbered =
        end < text.len && (hash || (apart && counts_things((struct str){text.at, end - 1})));
    return (struct range_name){{text.at, numbered ? end : text.len}, numbered};
}

static bool find_name(struct range_tree *tree, str_id id, uint32_t *index, struct err *err)
{
    struct range_name name = name_of(trace_text(tree->facts->trace, id));
    uint32_t known = tree->by_name.count;
    uint64_t length = (uint64_t)name.text.len << 1 | name.numbered;
    if (!groups_index(&tree->by_name, hash_bytes(name.text.at, name.text.len), length, index, err))
        return false;
    if (*index < known)
        return true;
    struct range_name *names = budget_room(tree->facts->budget, tree->names, &tree->name_cap,
                                           known + 1, sizeof *names, err);
    if (!names)
        return false;
    tree->names = names;
    names[known] = name;
    return true;
}

// --- nodes --------------------------------------------------------------------------------------

static bool add_node(struct range_tree *tree, struct range_node node, struct err *err)
{
    struct range_node *nodes = budget_room(tree->facts->budget, tree->nodes, &tree->node_cap,
                                           tree->node_count + 1, sizeof *nodes, err);
    if (!nodes)
        return false;
    tree->nodes = nodes;
    node.last_step = FACTS_NONE;
    nodes[tree->node_count++] = node;
    return true;
}

// Beyond the limits a range counts in the node above.
static bool find_node(struct range_tree *tree, uint32_t parent, str_id id, uint32_t *node,
                      struct err *err)
{
    uint32_t name, place, known = tree->by_place.count;
    *node = parent;
    if (tree->nodes[parent].depth == MOST_DEPTH || !find_name(tree, id, &name, err))
        return tree->nodes[parent].depth == MOST_DEPTH;
    if (parent && tree->nodes[parent].name == name)
        return true; // a range within one of the same name, as in recursion
    if (tree->node_count == MOST_NODES)
        return true;
    if (!groups_index(&tree->by_place, parent, name, &place, err))
        return false;
    *node = place + 1;
    if (place < known)
        return true;
    tree->nodes[parent].children++;
    return add_node(
        tree,
        (struct range_node){.parent = parent, .depth = tree->nodes[parent].depth + 1, .name = name},
        err);
}

// --- calls --------------------------------------------------------------------------------------

static uint32_t step_at(const struct facts *facts, int64_t host_ns)
{
    for (uint32_t from = 0, to = facts->marked ? facts->step_count : 0; from < to;) {
        uint32_t middle = from + (to - from) / 2;
        const struct step *step = &facts->steps[middle];
        if (host_ns < step->mark_begin_ns)
            to = middle;
        else if (host_ns >= step->mark_end_ns)
            from = middle + 1;
        else
            return middle;
    }
    return FACTS_NONE;
}

// Threads are walked one after another, so a node may come to a step again.
static bool count_step(struct range_tree *tree, uint32_t node, uint32_t step, struct err *err)
{
    struct range_node *own = &tree->nodes[node];
    uint32_t index, known = tree->by_step.count;
    if (step == FACTS_NONE || step == own->last_step)
        return true;
    own->last_step = step;
    if (!groups_index(&tree->by_step, node, step, &index, err))
        return false;
    own->steps += index == known;
    return true;
}

static bool add_call(struct range_tree *tree, uint32_t event, uint32_t around, struct err *err)
{
    const struct trace *trace = tree->facts->trace;
    uint32_t parent = around == FACTS_NONE ? FACTS_NONE : tree->call_of[around];
    uint32_t above = parent == FACTS_NONE ? 0 : tree->calls[parent].node, node;
    if (!find_node(tree, above, trace->name[event], &node, err))
        return false;
    if (node == above) { // it counts there
        tree->call_of[event] = parent;
        return true;
    }
    struct range_call *calls = budget_room(tree->facts->budget, tree->calls, &tree->call_cap,
                                           tree->call_count + 1, sizeof *calls, err);
    if (!calls)
        return false;
    tree->calls = calls;
    uint32_t step = step_at(tree->facts, trace->begin_ns[event]);
    calls[tree->call_count] = (struct range_call){.node = node,
                                                  .parent = parent,
                                                  .step = step,
                                                  .host_ns = trace->dur_ns[event],
                                                  .first_ns = INT64_MAX};
    tree->call_of[event] = tree->call_count++;
    struct range_node *own = &tree->nodes[node];
    own->calls++;
    own->host_ns += trace->dur_ns[event];
    return count_step(tree, node, step, err);
}

// PyTorch's own range around the launch of a collective, on whichever thread that is.
static bool is_of_collective(const struct trace *trace, uint32_t event)
{
    return str_starts_with(trace_text(trace, trace->name[event]), STR("nccl:"));
}

static bool walk_track(struct range_tree *tree, uint32_t index, struct err *err)
{
    const struct trace *trace = tree->facts->trace;
    struct host_stack own, main;
    uint32_t event, around;
    bool ok = true, helped = false;
    bool helps =
        tree->main_track != FACTS_NONE && index != tree->main_track && tree->helpers < MOST_HELPERS;
    host_stack_init(&own, trace, tree->facts->budget);
    host_stack_init(&main, trace, tree->facts->budget);
    host_stack_start(&own, &trace->tracks[index], HOST_STACK_NOTES);
    host_stack_start(&main, &trace->tracks[helps ? tree->main_track : index], HOST_STACK_NOTES);
    while (ok && (ok = host_stack_next(&own, &event, &around, err)) && event != FACTS_NONE) {
        int64_t now_ns = trace->begin_ns[event];
        if (trace->kind[event] != EVENT_ANNOTATION)
            continue;
        if (helps && around == FACTS_NONE && is_of_collective(trace, event)) {
            ok = host_stack_find(&main, now_ns, now_ns, &around, err);
            helped = true;
        }
        ok = ok && add_call(tree, event, around, err);
    }
    tree->helpers += helped;
    host_stack_free(&main);
    host_stack_free(&own);
    return ok;
}

// --- device time --------------------------------------------------------------------------------

static void add_device(struct range_tree *tree, uint32_t index, const struct device_event *device)
{
    for (uint32_t at = index; at != FACTS_NONE; at = tree->calls[at].parent) {
        struct range_call *call = &tree->calls[at];
        tree->nodes[call->node].class_ns[device->class] += device->owned_ns;
        call->owned_ns += device->owned_ns;
        call->first_ns = device->begin_ns < call->first_ns ? device->begin_ns : call->first_ns;
        call->last_ns = device->end_ns > call->last_ns ? device->end_ns : call->last_ns;
    }
}

static void add_launch(struct range_tree *tree, const struct launch *launch, uint32_t around)
{
    uint32_t call = around == FACTS_NONE ? FACTS_NONE : tree->call_of[around];
    for (uint32_t d = launch->first; d != FACTS_NONE; d = tree->facts->devices[d].next) {
        tree->device_call[d] = call;
        add_device(tree, call, &tree->facts->devices[d]);
    }
}

static uint32_t end_of(const struct track *track)
{
    return track->first + track->count;
}

static bool launches_before(const void *launches, size_t index, const void *event)
{
    return ((const struct launch *)launches)[index].event < *(const uint32_t *)event;
}

// The first launch on a row or after it.
static uint32_t first_launch(const struct facts *facts, uint32_t event)
{
    return (uint32_t)first_after(facts->launches, facts->launch_count, launches_before, &event);
}

static bool give_launches(struct range_tree *tree, uint32_t index, struct err *err)
{
    const struct facts *facts = tree->facts;
    const struct track *track = &facts->trace->tracks[index];
    struct host_stack own;
    bool ok = true;
    host_stack_init(&own, facts->trace, facts->budget);
    host_stack_start(&own, track, HOST_STACK_NOTES);
    for (uint32_t i = first_launch(facts, track->first);
         ok && i < facts->launch_count && facts->launches[i].event < end_of(track); i++) {
        const struct launch *launch = &facts->launches[i];
        int64_t now_ns = facts->trace->begin_ns[launch->event];
        uint32_t around;
        ok = host_stack_find(&own, now_ns, now_ns, &around, err);
        if (ok && around == FACTS_NONE && index != tree->main_track)
            tree->left[tree->left_count++] = (struct keyed){.key = now_ns, .a = i};
        else if (ok)
            add_launch(tree, launch, around);
    }
    host_stack_free(&own);
    return ok;
}

// A thread without an open range, such as autograd's, works for the main thread.
static bool give_rest_to_main(struct range_tree *tree, struct err *err)
{
    const struct facts *facts = tree->facts;
    struct host_stack main;
    struct keyed *scratch = arena_array(tree->arena, tree->left_count + 1, sizeof *scratch, err);
    bool ok = scratch;
    if (!scratch || tree->main_track == FACTS_NONE)
        return ok;
    sort_keyed(tree->left, scratch, tree->left_count);
    host_stack_init(&main, facts->trace, facts->budget);
    host_stack_start(&main, &facts->trace->tracks[tree->main_track], HOST_STACK_NOTES);
    for (uint32_t i = 0; ok && i < tree->left_count; i++) {
        const struct keyed *left = &tree->left[i];
        uint32_t around;
        ok = host_stack_find(&main, left->key, left->key, &around, err);
        if (ok)
            add_launch(tree, &facts->launches[left->a], around);
    }
    host_stack_free(&main);
    return ok;
}

// The thread whose ranges last longest in total.
static void choose_main(struct range_tree *tree)
{
    const struct trace *trace = tree->facts->trace;
    int64_t most_ns = 0;
    tree->main_track = FACTS_NONE;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        int64_t sum_ns = 0;
        for (uint32_t i = track->first; track->family == TRACK_HOST && i < end_of(track); i++)
            if (trace->kind[i] == EVENT_ANNOTATION && trace->dur_ns[i] < INT64_MAX - sum_ns)
                sum_ns += trace->dur_ns[i];
        if (sum_ns > most_ns)
            tree->main_track = t;
        most_ns = sum_ns > most_ns ? sum_ns : most_ns;
    }
}

// --- idle time ----------------------------------------------------------------------------------

static bool starts_before(const void *gaps, size_t index, const void *now_ns)
{
    return ((const struct gap *)gaps)[index].begin_ns < *(const int64_t *)now_ns;
}

uint32_t range_tree_gap(const struct facts *facts, int64_t now_ns)
{
    return (uint32_t)first_after(facts->gaps.gaps, facts->gaps.count, starts_before, &now_ns);
}

// Idle time before a moment.
static int64_t idle_until(const struct range_tree *tree, int64_t now_ns)
{
    const struct gap_list *list = &tree->facts->gaps;
    uint32_t from = range_tree_gap(tree->facts, now_ns);
    int64_t idle_ns = tree->gap_sum[from];
    const struct gap *last = from ? &list->gaps[from - 1] : NULL;
    return last && last->end_ns > now_ns ? idle_ns - (last->end_ns - now_ns) : idle_ns;
}

static bool sum_gaps(struct range_tree *tree, struct err *err)
{
    const struct gap_list *list = &tree->facts->gaps;
    int64_t *sum = arena_array(tree->arena, list->count + 1, sizeof *sum, err);
    tree->gap_sum = sum;
    for (uint32_t i = 0; sum && i < list->count; i++)
        sum[i + 1] = sum[i] + list->gaps[i].end_ns - list->gaps[i].begin_ns;
    return sum;
}

int64_t range_tree_idle(const struct range_tree *tree, const struct range_call *call)
{
    return call->first_ns < call->last_ns
               ? idle_until(tree, call->last_ns) - idle_until(tree, call->first_ns)
               : 0;
}

static void add_idle(struct range_tree *tree)
{
    for (uint32_t i = 0; i < tree->call_count; i++)
        tree->nodes[tree->calls[i].node].idle_ns += range_tree_idle(tree, &tree->calls[i]);
}

// --- the tree -----------------------------------------------------------------------------------

static bool build(struct range_tree *tree, struct err *err)
{
    const struct facts *facts = tree->facts;
    const struct trace *trace = facts->trace;
    tree->call_of = arena_array(tree->arena, trace->event_count, sizeof *tree->call_of, err);
    tree->left = arena_array(tree->arena, facts->launch_count + 1, sizeof *tree->left, err);
    tree->device_call =
        arena_array(tree->arena, facts->device_count, sizeof *tree->device_call, err);
    if (!tree->call_of || !tree->left || !tree->device_call || !sum_gaps(tree, err) ||
        !add_node(tree, (struct range_node){0}, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        tree->device_call[d] = FACTS_NONE;
    choose_main(tree);
    if (tree->main_track != FACTS_NONE && !walk_track(tree, tree->main_track, err))
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && t != tree->main_track &&
            !walk_track(tree, t, err))
            return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && !give_launches(tree, t, err))
            return false;
    if (!give_rest_to_main(tree, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        tree->nodes[0].class_ns[facts->devices[d].class] += facts->devices[d].owned_ns;
    add_idle(tree);
    return true;
}

int64_t range_node_ns(const struct range_node *node)
{
    return node->class_ns[CLASS_COMPUTE] + node->class_ns[CLASS_COMMUNICATION] +
           node->class_ns[CLASS_MEMORY];
}

bool range_tree_has_ranges(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == EVENT_ANNOTATION)
            return true;
    return false;
}

void range_tree_free(struct range_tree *tree)
{
    struct budget *budget = tree->facts->budget;
    budget_free(budget, tree->names, tree->name_cap * sizeof *tree->names);
    budget_free(budget, tree->nodes, tree->node_cap * sizeof *tree->nodes);
    budget_free(budget, tree->calls, tree->call_cap * sizeof *tree->calls);
    groups_free(&tree->by_name);
    groups_free(&tree->by_place);
    groups_free(&tree->by_step);
}

bool range_tree_make(const struct facts *facts, struct arena *arena, struct range_tree *tree,
                     struct err *err)
{
    *tree = (struct range_tree){.facts = facts, .arena = arena};
    groups_init(&tree->by_name, facts->budget);
    groups_init(&tree->by_place, facts->budget);
    groups_init(&tree->by_step, facts->budget);
    return build(tree, err);
}

char *range_tree_name(const struct range_tree *tree, const struct range_node *node,
                      struct arena *arena, struct err *err)
{
    const struct range_name *name = &tree->names[node->name];
    return arena_printf(arena, err, "%.*s%s", (int)name->text.len, name->text.at,
                        name->numbered ? "*" : "");
}

const char **range_tree_names(const struct range_tree *tree, struct err *err)
{
    const char **texts = arena_array(tree->arena, tree->by_name.count, sizeof *texts, err);
    for (uint32_t n = 1; texts && n < tree->node_count; n++) {
        const char **text = &texts[tree->nodes[n].name];
        if (!*text && !(*text = range_tree_name(tree, &tree->nodes[n], tree->arena, err)))
            return NULL;
    }
    return texts;
}

const bool *range_tree_nested(const struct range_tree *tree, struct err *err)
{
    const struct range_node *nodes = tree->nodes;
    bool *is_nested = arena_array(tree->arena, tree->node_count, sizeof *is_nested, err);
    for (uint32_t n = 1; is_nested && n < tree->node_count; n++)
        for (uint32_t above = nodes[n].parent; above && !is_nested[n]; above = nodes[above].parent)
            is_nested[n] = nodes[above].name == nodes[n].name;
    return is_nested;
}
