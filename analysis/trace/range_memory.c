// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_memory.h"

#include "analysis/facts/host_stack.h"
#include "analysis/stats/sort.h"

struct placing {
    const struct range_tree *tree;
    const uint32_t *node_sets;
    uint32_t *sets;
    struct keyed *left; // of threads without an open range, by time
    uint32_t left_count;
};

static void place(const struct placing *placing, uint32_t event, uint32_t around)
{
    uint32_t call = placing->tree->call_of[around];
    if (call != FACTS_NONE)
        placing->sets[event] = placing->node_sets[placing->tree->calls[call].node];
}

static bool place_track(struct placing *placing, uint32_t index, struct err *err)
{
    const struct trace *trace = placing->tree->facts->trace;
    const struct track *track = &trace->tracks[index];
    struct host_stack stack;
    bool ok = true;
    host_stack_init(&stack, trace, placing->tree->facts->budget);
    host_stack_start(&stack, track, HOST_STACK_NOTES);
    for (uint32_t i = track->first; ok && i < track->first + track->count; i++) {
        int64_t now_ns = trace->begin_ns[i];
        uint32_t around;
        if (trace->kind[i] != EVENT_ALLOCATION)
            continue;
        ok = host_stack_find(&stack, now_ns, now_ns, &around, err);
        if (ok && around != FACTS_NONE)
            place(placing, i, around);
        else if (ok && index != placing->tree->main_track &&
                 placing->left_count < trace->memory_args_count)
            placing->left[placing->left_count++] = (struct keyed){.key = now_ns, .a = i};
    }
    host_stack_free(&stack);
    return ok;
}

static bool place_rest(struct placing *placing, struct err *err)
{
    const struct facts *facts = placing->tree->facts;
    const struct trace *trace = facts->trace;
    struct host_stack main;
    bool ok = true;
    if (placing->tree->main_track == FACTS_NONE)
        return true;
    sort_keyed(placing->left, placing->left + trace->memory_args_count, placing->left_count);
    host_stack_init(&main, trace, facts->budget);
    host_stack_start(&main, &trace->tracks[placing->tree->main_track], HOST_STACK_NOTES);
    for (uint32_t i = 0; ok && i < placing->left_count; i++) {
        const struct keyed *left = &placing->left[i];
        uint32_t around;
        ok = host_stack_find(&main, left->key, left->key, &around, err);
        if (ok && around != FACTS_NONE)
            place(placing, left->a, around);
    }
    host_stack_free(&main);
    return ok;
}

const uint32_t *range_memory_sets(const struct range_tree *tree, const uint32_t *node_sets,
                                  struct err *err)
{
    const struct trace *trace = tree->facts->trace;
    uint32_t events = trace->memory_args_count ? trace->event_count : 0;
    struct placing placing = {
        .tree = tree,
        .node_sets = node_sets,
        .sets = arena_array(tree->arena, (size_t)events + 1, sizeof *placing.sets, err),
        .left = arena_room(tree->arena, 2 * (size_t)trace->memory_args_count, sizeof *placing.left,
                           err),
    };
    bool ok = placing.sets && placing.left;
    for (uint32_t t = 0; ok && trace->memory_args_count && t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST)
            ok = place_track(&placing, t, err);
    return ok && place_rest(&placing, err) ? placing.sets : NULL;
}
