// SPDX-License-Identifier: Apache-2.0
// Kernels, copies and memsets by full name.
#include "analysis/trace/analyses.h"
#include "analysis/facts/grouping.h"
#include "analysis/report/ranked.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "analysis/trace/kernel_name_row.h"

#include <stdio.h>

struct kernel {
    int64_t total_ns, steady_ns, owned_ns, exposed_ns;
    uint32_t steady_calls;
    uint32_t by_op;    // a device event with the (name, op, category) with most time
    uint32_t by_shape; // a device event with the most frequent shape; FACTS_NONE without shapes
};

// Device events of one name, operator, class, category and shape.
struct kind {
    int64_t total_ns, steady_ns, owned_ns;
    uint32_t calls, steady_calls;
    uint32_t device; // the last of them
    uint32_t kernel; // index of its name
};

struct kernels {
    const struct facts *facts;
    struct arena *arena;
    struct kind *kinds;
    uint32_t kind_count;
    struct grouping names;
    struct kernel *kernels; // per group of names
};

static uint32_t shape_number(const struct facts *facts, uint32_t device)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    return args == ARGS_NONE ? FACTS_NONE : facts->trace->device_args[args].shape;
}

// Class and category: one operator may launch a kernel both inside an attention and elsewhere.
static uint64_t nature_of(const struct facts *facts, uint32_t device)
{
    return (uint64_t)facts->devices[device].category << 2 | facts->devices[device].class;
}

static bool kind_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    uint64_t op = facts_device_op(facts, device), shape = shape_number(facts, device);
    *key = (struct group_key){op << 32 | facts_device_name(facts, device),
                              shape << 8 | nature_of(facts, device)};
    return true;
}

static int64_t time_of(const struct device_event *device)
{
    return device->end_ns - device->begin_ns;
}

// Names the kernels; names.group_of, which has the kinds, is changed to the kernels.
static bool sum_kinds(struct kernels *all, struct groups *names, struct err *err)
{
    const struct facts *facts = all->facts;
    for (uint32_t k = 0; k < all->kind_count; k++) {
        str_id name = (str_id)all->names.groups.keys[k].a;
        if (!groups_index(names, name, 0, &all->kinds[k].kernel, err))
            return false;
    }
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        struct kind *kind = &all->kinds[all->names.group_of[i]];
        bool is_steady = device->step != FACTS_NONE && facts->steps[device->step].steady;
        kind->calls++;
        kind->total_ns += time_of(device);
        kind->owned_ns += device->owned_ns;
        kind->steady_calls += is_steady;
        kind->steady_ns += is_steady ? time_of(device) : 0;
        kind->device = i;
        all->names.group_of[i] = kind->kernel;
    }
    return true;
}

static bool find_kinds(struct kernels *all, struct err *err)
{
    struct groups names;
    groups_init(&names, all->facts->budget);
    bool ok = grouping_make(all->facts, kind_key, all->arena, &all->names, err);
    if (ok) {
        all->kind_count = all->names.groups.count;
        all->kinds = arena_array(all->arena, all->kind_count, sizeof *all->kinds, err);
    }
    ok = ok && all->kinds && sum_kinds(all, &names, err);
    if (all->names.groups.budget)
        groups_free(&all->names.groups);
    all->names.groups = names;
    return ok;
}

// A part of a name's kinds: those with one operator, or with one shape.
struct part {
    int64_t weight;
    uint32_t kernel, device;
};

static bool op_part(const struct kernels *all, const struct kind *kind, struct group_key *key)
{
    *key = (struct group_key){(uint64_t)facts_device_op(all->facts, kind->device) << 8 |
                                  nature_of(all->facts, kind->device),
                              kind->kernel};
    return true;
}

static bool shape_part(const struct kernels *all, const struct kind *kind, struct group_key *key)
{
    *key = (struct group_key){shape_number(all->facts, kind->device), kind->kernel};
    return key->a != FACTS_NONE;
}

typedef bool part_key(const struct kernels *all, const struct kind *kind, struct group_key *key);

static bool sum_parts(const struct kernels *all, part_key *key_of, struct groups *groups,
                      struct part *parts, struct err *err)
{
    for (uint32_t k = 0; k < all->kind_count; k++) {
        const struct kind *kind = &all->kinds[k];
        struct group_key key;
        uint32_t p;
        if (!key_of(all, kind, &key))
            continue;
        if (!groups_index(groups, key.a, key.b, &p, err))
            return false;
        parts[p].weight += key_of == op_part ? kind->total_ns : kind->calls;
        parts[p].kernel = kind->kernel;
        if (kind->device > parts[p].device)
            parts[p].device = kind->device;
    }
    return true;
}

// The heaviest part of each kernel, the first among equals; heaviest[] per kernel.
static bool pick(const struct kernels *all, part_key *key_of, struct part *heaviest,
                 struct err *err)
{
    struct groups groups;
    groups_init(&groups, all->facts->budget);
    struct part *parts = arena_array(all->arena, all->kind_count, sizeof *parts, err);
    bool ok = parts && sum_parts(all, key_of, &groups, parts, err);
    for (uint32_t p = 0; ok && p < groups.count; p++) {
        struct part *best = &heaviest[parts[p].kernel];
        if (best->device == FACTS_NONE || parts[p].weight > best->weight)
            *best = parts[p];
    }
    groups_free(&groups);
    return ok;
}

static struct part *no_parts(const struct kernels *all, struct err *err)
{
    uint32_t count = all->names.groups.count;
    struct part *parts = arena_array(all->arena, count, sizeof *parts, err);
    for (uint32_t g = 0; parts && g < count; g++)
        parts[g].device = FACTS_NONE;
    return parts;
}

static bool describe(struct kernels *all, struct err *err)
{
    struct part *ops = no_parts(all, err), *shapes = no_parts(all, err);
    if (!ops || !shapes || !pick(all, op_part, ops, err) || !pick(all, shape_part, shapes, err))
        return false;
    for (uint32_t g = 0; g < all->names.groups.count; g++) {
        all->kernels[g].by_op = ops[g].device;
        all->kernels[g].by_shape = shapes[g].device;
    }
    return true;
}

static bool sum(struct kernels *all, struct err *err)
{
    uint32_t count = all->names.groups.count;
    all->kernels = arena_array(all->arena, count, sizeof *all->kernels, err);
    if (!all->kernels)
        return false;
    for (uint32_t k = 0; k < all->kind_count; k++) {
        const struct kind *kind = &all->kinds[k];
        struct kernel *kernel = &all->kernels[kind->kernel];
        bool computes = all->facts->devices[kind->device].class == CLASS_COMPUTE;
        kernel->total_ns += kind->total_ns;
        kernel->owned_ns += kind->owned_ns;
        kernel->exposed_ns += computes ? 0 : kind->owned_ns;
        kernel->steady_calls += kind->steady_calls;
        kernel->steady_ns += kind->steady_ns;
    }
    return describe(all, err);
}

// "x,y,z" in text, or null if nothing was recorded.
static void add_dims(struct row *row, unsigned column, const int32_t dims[3], char text[48])
{
    snprintf(text, 48, "%d,%d,%d", dims[0], dims[1], dims[2]);
    row_text_if(row, column, dims[0] || dims[1] || dims[2], str_of(text));
}

static void add_shape(struct row *row, const struct launch_shape *shape, char texts[2][48])
{
    add_dims(row, KERNELS_GRID, shape->grid, texts[0]);
    add_dims(row, KERNELS_BLOCK, shape->block, texts[1]);
    row_i64_if(row, KERNELS_REGISTERS, shape->registers >= 0, shape->registers);
    row_i64_if(row, KERNELS_SHARED_BYTES, shape->shared_bytes != VALUE_ABSENT, shape->shared_bytes);
    row_i64_if(row, KERNELS_OCCUPANCY_PERCENT, shape->occupancy_percent >= 0,
               shape->occupancy_percent);
}

static void add_stats(struct row *row, const struct stats *stats)
{
    row_i64(row, KERNELS_MIN_NS, stats->min);
    row_f64(row, KERNELS_MEAN_NS, stats->mean);
    row_i64(row, KERNELS_MEDIAN_NS, stats->median);
    row_i64(row, KERNELS_P95_NS, stats->p95);
    row_i64(row, KERNELS_P99_NS, stats->p99);
    row_i64(row, KERNELS_MAX_NS, stats->max);
    row_f64(row, KERNELS_STDDEV_NS, stats->stddev);
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
    struct kernel_name_texts name_texts;
    struct str name = trace_text(trace, facts_device_name(facts, kernel->by_op));
    struct row row = {.desc = &table_kernels};
    row_text(&row, KERNELS_NAME, name);
    row_word(&row, KERNELS_CLASS, event_device_class_word((enum device_class)device->class));
    row_word(&row, KERNELS_CATEGORY, category_word((enum category)device->category));
    row_text_if(&row, KERNELS_OP, op != 0, trace_text(trace, op));
    row_i64(&row, KERNELS_CALLS, count);
    row_share(&row, KERNELS_CALLS_PER_STEP, kernel->steady_calls, facts->steady_count);
    row_i64(&row, KERNELS_TOTAL_NS, kernel->total_ns);
    row_i64(&row, KERNELS_OWNED_NS, kernel->owned_ns);
    row_i64(&row, KERNELS_EXPOSED_NS, kernel->exposed_ns);
    row_share(&row, KERNELS_WINDOW_SHARE, kernel->total_ns, parts_window_ns(&facts->whole));
    row_share(&row, KERNELS_BUSY_SHARE, kernel->owned_ns, parts_busy_ns(&facts->whole));
    row_share(&row, KERNELS_PER_STEP_NS, kernel->steady_ns, facts->steady_count);
    add_stats(&row, &stats);
    if (kernel->by_shape != FACTS_NONE) {
        const struct launch_shape shape = facts_launch_shape(facts, kernel->by_shape);
        add_shape(&row, &shape, texts);
    }
    kernel_name_put(&row, name, &name_texts);
    return row_end(&row, report, err);
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

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct kernels all = {.facts = facts, .arena = scratch};
    bool ok = find_kinds(&all, err) && grouping_sort(facts, scratch, &all.names, err) &&
              sum(&all, err) && add_rows(&all, report, err);
    grouping_free(&all.names);
    return ok;
}

const struct analysis kernels_analysis = {"kernels", run};
