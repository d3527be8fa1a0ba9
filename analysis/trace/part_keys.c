// SPDX-License-Identifier: Apache-2.0
// An operator's inputs are looked up once per call, its module once per launch.
#include "analysis/trace/part_keys.h"

#include "analysis/facts/op_calls.h"

struct part_walk {
    const struct facts *facts;
    enum part_detail detail;
    struct part_keys *keys;
    uint32_t *place_of; // per launch
};

static bool find_call(struct part_walk *walk, uint32_t op, uint32_t *call, struct err *err)
{
    const struct trace *trace = walk->facts->trace;
    struct part_keys *keys = walk->keys;
    uint32_t index = op_calls_inputs(trace, op), inputs = 0;
    uint64_t dims = 0, types = 0;
    if (index != ARGS_NONE && walk->detail == PART_OPERATORS) {
        dims = PART_OTHER_SHAPES;
    } else if (index != ARGS_NONE) {
        dims = trace->op_inputs[index].dims;
        types = trace->op_inputs[index].types;
    }
    return groups_index(&keys->inputs, dims, types, &inputs, err) &&
           groups_index(&keys->calls, trace->name[op], inputs, call, err);
}

static bool find_place(struct part_walk *walk, uint32_t launch, uint32_t call, struct err *err)
{
    bool by_module = walk->detail == PART_SHAPES_AND_MODULES;
    uint32_t module = by_module ? walk->facts->launches[launch].module : 0;
    return groups_index(&walk->keys->places, call, module, &walk->place_of[launch], err);
}

// Call 0 has no operator; its launches, and the place for events without a known launch.
static bool find_unnamed(struct part_walk *walk, struct err *err)
{
    const struct facts *facts = walk->facts;
    uint32_t inputs, call, place;
    if (!groups_index(&walk->keys->inputs, 0, 0, &inputs, err) ||
        !groups_index(&walk->keys->calls, 0, inputs, &call, err) ||
        !groups_index(&walk->keys->places, call, 0, &place, err))
        return false;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (facts->launches[l].op == FACTS_NONE && !find_place(walk, l, call, err))
            return false;
    return true;
}

static bool find_places(struct part_walk *walk, struct arena *arena, struct err *err)
{
    const struct op_calls *calls = walk->facts->calls;
    walk->place_of = arena_room(arena, walk->facts->launch_count, sizeof *walk->place_of, err);
    if (!walk->place_of || !find_unnamed(walk, err))
        return false;
    for (uint32_t c = 0; c < calls->count; c++) {
        uint32_t call;
        if (!find_call(walk, calls->calls[c].op, &call, err))
            return false;
        for (uint32_t i = calls->calls[c].from; i < calls->calls[c].to; i++)
            if (!find_place(walk, calls->order[i], call, err))
                return false;
    }
    return true;
}

static bool find_rows(struct part_walk *walk, uint32_t *row_of, struct err *err)
{
    const struct facts *facts = walk->facts;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        uint64_t place = device->launch == FACTS_NONE ? 0 : walk->place_of[device->launch];
        uint64_t event = (uint64_t)device->category << 32 | facts_device_name(facts, d);
        if (!groups_index(&walk->keys->rows, place, event, &row_of[d], err))
            return false;
    }
    return true;
}

static void name_parts(struct part_keys *keys)
{
    for (uint32_t r = 0; r < keys->rows.count; r++) {
        const struct group_key *place = &keys->places.keys[keys->rows.keys[r].a];
        const struct group_key *call = &keys->calls.keys[place->a];
        const struct group_key *inputs = &keys->inputs.keys[call->b];
        keys->parts[r] = (struct part){.op = (str_id)call->a,
                                       .dims = (str_id)inputs->a,
                                       .types = (str_id)inputs->b,
                                       .module = (uint32_t)place->b};
    }
}

static void sum(const struct facts *facts, const uint32_t *row_of, struct part_keys *keys)
{
    for (uint32_t d = 0; d < facts->device_count; d++) {
        struct part *part = &keys->parts[row_of[d]];
        uint32_t step = facts->devices[d].step;
        part->calls += step != FACTS_NONE && facts->steps[step].steady;
        part->owned_ns += facts->steady_owned_ns[d];
        part->device = d;
    }
    for (uint32_t r = 0; r < keys->rows.count; r++)
        keys->used += keys->parts[r].calls || keys->parts[r].owned_ns;
}

bool part_keys_make(const struct facts *facts, enum part_detail detail, struct arena *arena,
                    struct part_keys *keys, struct err *err)
{
    struct part_walk walk = {facts, detail, keys, NULL};
    struct groups *const groups[] = {&keys->inputs, &keys->calls, &keys->places, &keys->rows};
    *keys = (struct part_keys){0};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        groups_init(groups[i], facts->budget);
    uint32_t *row_of = arena_room(arena, facts->device_count, sizeof *row_of, err);
    if (!row_of || !find_places(&walk, arena, err) || !find_rows(&walk, row_of, err))
        return false;
    keys->parts = arena_room(arena, keys->rows.count, sizeof *keys->parts, err);
    if (!keys->parts)
        return false;
    name_parts(keys);
    sum(facts, row_of, keys);
    return true;
}

void part_keys_free(struct part_keys *keys)
{
    groups_free(&keys->rows);
    groups_free(&keys->places);
    groups_free(&keys->calls);
    groups_free(&keys->inputs);
}
