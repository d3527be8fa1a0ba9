// SPDX-License-Identifier: Apache-2.0
// Operators by the device time that they launched directly.
#include "analysis/analyses.h"
#include "analysis/groups.h"
#include "analysis/intervals.h"
#include "analysis/ranked.h"
#include "analysis/sort.h"
#include "analysis/tables.h"

struct op_sum {
    int64_t calls, total_ns;
};

struct op_walk {
    const struct facts *facts;
    struct keyed *launches; // key: event of the operator, a: launch
    uint32_t count;
    struct keyed *devices; // room for twice the linked device events
    struct span *spans;    // room for as many
    struct groups names;
    struct op_sum *sums; // per name
};

static void collect(struct op_walk *walk, struct keyed *scratch)
{
    const struct facts *facts = walk->facts;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (facts->launches[l].op != FACTS_NONE)
            walk->launches[walk->count++] = (struct keyed){facts->launches[l].op, l, 0};
    sort_keyed(walk->launches, scratch, walk->count);
}

// Union of the device events of the launches from .. to - 1, all of one call of an operator.
static int64_t time_of(const struct op_walk *walk, uint32_t from, uint32_t to)
{
    const struct facts *facts = walk->facts;
    uint32_t count = 0;
    for (uint32_t l = from; l < to; l++)
        for (uint32_t d = facts->launches[walk->launches[l].a].first; d != FACTS_NONE;
             d = facts->devices[d].next)
            walk->devices[count++] = (struct keyed){d, d, 0}; // ascending index is order of begin
    sort_keyed(walk->devices, walk->devices + facts->linked, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct device_event *device = &facts->devices[walk->devices[i].a];
        walk->spans[i] = (struct span){device->begin_ns, device->end_ns};
    }
    return intervals_length(walk->spans, intervals_union(walk->spans, count));
}

static uint32_t end_of_call(const struct op_walk *walk, uint32_t from)
{
    uint32_t to = from;
    while (to < walk->count && walk->launches[to].key == walk->launches[from].key)
        to++;
    return to;
}

static bool name_ops(struct op_walk *walk, struct err *err)
{
    uint32_t index;
    for (uint32_t l = 0; l < walk->count; l++)
        if (!groups_index(&walk->names, walk->facts->trace->name[walk->launches[l].key], 0, &index,
                          err))
            return false;
    return true;
}

static bool sum_calls(struct op_walk *walk, struct err *err)
{
    for (uint32_t from = 0, to; from < walk->count; from = to) {
        uint32_t index;
        to = end_of_call(walk, from);
        if (!groups_index(&walk->names, walk->facts->trace->name[walk->launches[from].key], 0,
                          &index, err))
            return false;
        walk->sums[index].calls++;
        walk->sums[index].total_ns += time_of(walk, from, to);
    }
    return true;
}

static bool add_rows(const struct op_walk *walk, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t count = walk->names.count;
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t g = 0; g < count; g++) {
        struct str name = trace_text(walk->facts->trace, (str_id)walk->names.keys[g].a);
        ranked[g] = (struct ranked){walk->sums[g].total_ns, name, g};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++) {
        struct row row = {0};
        row_text(&row, ranked[i].name);
        row_i64(&row, walk->sums[ranked[i].index].calls);
        row_i64(&row, ranked[i].total_ns);
        if (!row_end(&row, &table_ops, report, err))
            return false;
    }
    return true;
}

static bool walk_ops(struct op_walk *walk, struct arena *arena, struct report *report,
                     struct err *err)
{
    const struct facts *facts = walk->facts;
    walk->launches = arena_array(arena, 2 * (size_t)facts->launch_count, sizeof(struct keyed), err);
    walk->devices = arena_array(arena, 2 * (size_t)facts->linked, sizeof(struct keyed), err);
    walk->spans = arena_array(arena, facts->linked, sizeof(struct span), err);
    if (!walk->launches || !walk->devices || !walk->spans)
        return false;
    collect(walk, walk->launches + facts->launch_count);
    if (!name_ops(walk, err))
        return false;
    walk->sums = arena_array(arena, walk->names.count, sizeof *walk->sums, err);
    return walk->sums && sum_calls(walk, err) && add_rows(walk, arena, report, err);
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct op_walk walk = {.facts = facts};
    groups_init(&walk.names, facts->budget);
    bool ok = walk_ops(&walk, &scratch, report, err);
    groups_free(&walk.names);
    arena_free(&scratch);
    return ok;
}

const struct analysis ops_analysis = {"ops", run};
