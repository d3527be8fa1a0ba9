// SPDX-License-Identifier: Apache-2.0
// Kernels, copies and memsets by full name.
#include "analysis/analyses.h"
#include "analysis/grouping.h"
#include "analysis/ranked.h"
#include "analysis/stats.h"
#include "analysis/tables.h"

#include <stdio.h>

struct kernel {
    int64_t total_ns, owned_ns, exposed_ns;
    uint32_t steady_calls;
    uint32_t by_op;    // a device event with the (name, op) pair that has most time
    uint32_t by_shape; // a device event with the shape of most calls
};

struct kernels {
    const struct facts *facts;
    struct arena *arena;
    struct grouping names;
    struct kernel *kernels; // per group of names
};

static bool name_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    *key = (struct group_key){facts_device_name(facts, device), 0};
    return true;
}

static bool op_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    *key = (struct group_key){facts_device_name(facts, device),
                              (uint64_t)facts_device_op(facts, device) << 2 |
                                  facts->devices[device].class};
    return true;
}

static bool shape_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    if (args == ARGS_NONE)
        return false;
    *key =
        (struct group_key){facts_device_name(facts, device), facts->trace->device_args[args].shape};
    return true;
}

// How much weighs a subgroup of a name, and one of its device events.
struct subgroup {
    int64_t weight;
    uint32_t device;
};

static int64_t time_of(const struct device_event *device)
{
    return device->end_ns - device->begin_ns;
}

static int64_t one(const struct device_event *device)
{
    (void)device;
    return 1;
}

// The heaviest subgroup of each name; heaviest[] per group of names.
static bool pick(const struct kernels *all, grouping_key *key,
                 int64_t (*weight)(const struct device_event *), struct subgroup *heaviest,
                 struct err *err)
{
    const struct facts *facts = all->facts;
    struct grouping grouping;
    struct subgroup *subgroups = NULL;
    if (grouping_make(facts, key, all->arena, &grouping, err))
        subgroups = arena_array(all->arena, grouping.groups.count, sizeof *subgroups, err);
    for (uint32_t i = 0; subgroups && i < facts->device_count; i++) {
        if (grouping.group_of[i] == FACTS_NONE)
            continue;
        struct subgroup *subgroup = &subgroups[grouping.group_of[i]];
        subgroup->weight += weight(&facts->devices[i]);
        subgroup->device = i;
    }
    for (uint32_t g = 0; subgroups && g < grouping.groups.count; g++) {
        struct subgroup *best = &heaviest[all->names.group_of[subgroups[g].device]];
        if (best->device == FACTS_NONE || subgroups[g].weight > best->weight)
            *best = subgroups[g];
    }
    grouping_free(&grouping);
    return subgroups != NULL;
}

static struct subgroup *no_subgroups(const struct kernels *all, struct err *err)
{
    uint32_t count = all->names.groups.count;
    struct subgroup *subgroups = arena_array(all->arena, count, sizeof *subgroups, err);
    for (uint32_t g = 0; subgroups && g < count; g++)
        subgroups[g].device = FACTS_NONE;
    return subgroups;
}

static bool describe(struct kernels *all, struct err *err)
{
    struct subgroup *ops = no_subgroups(all, err), *shapes = no_subgroups(all, err);
    if (!ops || !shapes || !pick(all, op_key, time_of, ops, err) ||
        !pick(all, shape_key, one, shapes, err))
        return false;
    for (uint32_t g = 0; g < all->names.groups.count; g++) {
        all->kernels[g].by_op = ops[g].device;
        all->kernels[g].by_shape = shapes[g].device;
    }
    return true;
}

static bool sum(struct kernels *all, struct err *err)
{
    const struct facts *facts = all->facts;
    uint32_t count = all->names.groups.count;
    all->kernels = arena_array(all->arena, count, sizeof *all->kernels, err);
    if (!all->kernels)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        struct kernel *kernel = &all->kernels[all->names.group_of[i]];
        kernel->total_ns += time_of(device);
        kernel->owned_ns += device->owned_ns;
        kernel->exposed_ns += device->class == CLASS_COMPUTE ? 0 : device->owned_ns;
        kernel->steady_calls += device->step != FACTS_NONE && facts->steps[device->step].steady;
    }
    return describe(all, err);
}

static const struct launch_shape *shape_of(const struct facts *facts, uint32_t device)
{
    if (device == FACTS_NONE)
        return NULL;
    uint32_t args = facts->trace->args[facts->devices[device].event];
    return &facts->trace->shapes[facts->trace->device_args[args].shape];
}

// "x,y,z" in text, or null when nothing was recorded.
static void add_dims(struct row *row, const int32_t dims[3], char text[48])
{
    snprintf(text, 48, "%d,%d,%d", dims[0], dims[1], dims[2]);
    row_text_if(row, dims[0] || dims[1] || dims[2], str_of(text));
}

static void add_shape(struct row *row, const struct launch_shape *shape, char texts[2][48])
{
    if (!shape) {
        for (int i = 0; i < 5; i++)
            row_null(row);
        return;
    }
    add_dims(row, shape->grid, texts[0]);
    add_dims(row, shape->block, texts[1]);
    row_i64_if(row, shape->registers >= 0, shape->registers);
    row_i64_if(row, shape->shared_bytes != VALUE_ABSENT, shape->shared_bytes);
    row_i64_if(row, shape->occupancy_percent >= 0, shape->occupancy_percent);
}

static void add_stats(struct row *row, const struct stats *stats)
{
    row_i64(row, stats->min);
    row_f64(row, stats->mean);
    row_i64(row, stats->median);
    row_i64(row, stats->p95);
    row_i64(row, stats->p99);
    row_i64(row, stats->max);
    row_f64(row, stats->stddev);
}

static bool add_row(const struct kernels *all, uint32_t group, struct report *report,
                    struct err *err)
{
    const struct facts *facts = all->facts;
    const struct trace *trace = facts->trace;
    const struct kernel *kernel = &all->kernels[group];
    const struct device_event *device = &facts->devices[kernel->by_op];
    uint32_t first = all->names.first[group], count = all->names.first[group + 1] - first;
    struct stats stats = stats_of(all->names.dur_ns + first, count);
    str_id op = facts_device_op(facts, kernel->by_op);
    char texts[2][48];
    struct row row = {0};
    row_text(&row, trace_text(trace, facts_device_name(facts, kernel->by_op)));
    row_word(&row, event_device_class_word((enum device_class)device->class));
    row_word(&row, category_word((enum category)device->category));
    row_text_if(&row, op != 0, trace_text(trace, op));
    row_i64(&row, count);
    row_share(&row, kernel->steady_calls, facts->steady_count);
    row_i64(&row, kernel->total_ns);
    row_i64(&row, kernel->owned_ns);
    row_i64(&row, kernel->exposed_ns);
    row_share(&row, kernel->total_ns, parts_window_ns(&facts->whole));
    row_share(&row, kernel->total_ns, parts_busy_ns(&facts->whole));
    add_stats(&row, &stats);
    add_shape(&row, shape_of(facts, kernel->by_shape), texts);
    return row_end(&row, &table_kernels, report, err);
}

static bool add_rows(const struct kernels *all, struct report *report, struct err *err)
{
    uint32_t count = all->names.groups.count;
    struct ranked *ranked = arena_array(all->arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t g = 0; g < count; g++) {
        struct str name = trace_text(all->facts->trace, (str_id)all->names.groups.keys[g].a);
        ranked[g] = (struct ranked){all->kernels[g].total_ns, name, g};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++)
        if (!add_row(all, ranked[i].index, report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct kernels all = {.facts = facts, .arena = &scratch};
    bool ok = grouping_make(facts, name_key, &scratch, &all.names, err) &&
              grouping_sort(facts, &scratch, &all.names, err) && sum(&all, err) &&
              add_rows(&all, report, err);
    grouping_free(&all.names);
    arena_free(&scratch);
    return ok;
}

const struct analysis kernels_analysis = {"kernels", run};
