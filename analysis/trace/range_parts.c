// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_parts.h"

#include "analysis/facts/gaps.h"
#include "analysis/names/bandwidth.h"
#include "analysis/report/ranked.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

enum { MOST_ROWS = 20000, BLOCK_GAPS = 64 };

#define NO_COLLECTIVE 0 // in keys, where the others count from 1

// Device events of one kind in one range. Kinds differ in operator, name, category and collective.
struct part {
    uint32_t range, device; // a node with the name; one of the device events
    int64_t calls, total_ns, owned_ns, min_ns, max_ns;
};

struct parts_by {
    struct groups groups;
    struct part *parts;
    size_t cap;
};

struct range_parts {
    const struct range_tree *tree;
    const struct facts *facts;
    struct arena *arena;
    struct groups kinds;
    uint32_t *kind_of;       // per device event
    struct parts_by by_node; // (node, kind)
    struct parts_by by_name; // (name, kind), nested ranges included
    const bool *is_nested;   // per node: within another of its name
    // Idle time by cause before each block of gaps, and of the ranges' names by cause.
    int64_t (*idle_before)[IDLE_CAUSE_COUNT], (*idle_of)[IDLE_CAUSE_COUNT];
};

// --- device events ------------------------------------------------------------------------------

static uint32_t collective_of(const struct facts *facts, uint32_t device)
{
    const struct trace *trace = facts->trace;
    uint32_t args = trace->args[facts->devices[device].event];
    if (facts->devices[device].class != CLASS_COMMUNICATION || args == ARGS_NONE ||
        trace->device_args[args].collective == ARGS_NONE)
        return NO_COLLECTIVE;
    return trace->device_args[args].collective + 1;
}

static bool find_kind(struct range_parts *all, uint32_t device, struct err *err)
{
    const struct device_event *event = &all->facts->devices[device];
    uint64_t op = facts_device_op(all->facts, device);
    uint64_t nature = (uint64_t)event->category << 2 | event->class;
    return groups_index(&all->kinds, op << 32 | facts_device_name(all->facts, device),
                        (uint64_t)collective_of(all->facts, device) << 16 | nature,
                        &all->kind_of[device], err);
}

// The part of a key, new if need be.
static struct part *part_of(struct range_parts *all, struct parts_by *by, struct group_key key,
                            uint32_t node, struct err *err)
{
    uint32_t index, known = by->groups.count;
    if (!groups_index(&by->groups, key.a, key.b, &index, err))
        return NULL;
    if (index < known)
        return &by->parts[index];
    struct part *parts =
        budget_room(all->facts->budget, by->parts, &by->cap, known + 1u, sizeof *parts, err);
    if (!parts)
        return NULL;
    by->parts = parts;
    parts[index] = (struct part){.range = node, .min_ns = INT64_MAX};
    return &parts[index];
}

static void add(struct part *to, const struct part *from)
{
    to->device = from->device;
    to->calls += from->calls;
    if (__builtin_add_overflow(to->total_ns, from->total_ns, &to->total_ns))
        to->total_ns = INT64_MAX; // a hostile file may have long, overlapping events
    to->owned_ns += from->owned_ns;
    to->min_ns = from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
    to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
}

static bool add_device(struct range_parts *all, uint32_t device, struct err *err)
{
    const struct device_event *event = &all->facts->devices[device];
    uint32_t call = all->tree->device_call[device];
    int64_t ns = event->end_ns - event->begin_ns;
    if (call == FACTS_NONE)
        return true;
    if (!find_kind(all, device, err))
        return false;
    uint32_t node = all->tree->calls[call].node;
    struct part *part =
        part_of(all, &all->by_node, (struct group_key){node, all->kind_of[device]}, node, err);
    if (part)
        add(part, &(struct part){.device = device,
                                 .calls = 1,
                                 .total_ns = ns,
                                 .owned_ns = event->owned_ns,
                                 .min_ns = ns,
                                 .max_ns = ns});
    return part;
}

// To all ranges around it, once for each name.
static bool add_up(struct range_parts *all, uint32_t index, struct err *err)
{
    const struct range_node *nodes = all->tree->nodes;
    const struct part from = all->by_node.parts[index];
    uint64_t kind = all->by_node.groups.keys[index].b;
    for (uint32_t node = from.range; node; node = nodes[node].parent) {
        if (all->is_nested[node])
            continue;
        struct group_key key = {nodes[node].name, kind};
        struct part *to = part_of(all, &all->by_name, key, node, err);
        if (!to)
            return false;
        add(to, &from);
    }
    return true;
}

static bool sum_devices(struct range_parts *all, struct err *err)
{
    for (uint32_t i = 0; i < all->facts->device_count; i++)
        if (!add_device(all, i, err))
            return false;
    for (uint32_t i = 0; i < all->by_node.groups.count; i++)
        if (!add_up(all, i, err))
            return false;
    return true;
}

// --- idle time ----------------------------------------------------------------------------------

static bool sum_gaps(struct range_parts *all, struct err *err)
{
    const struct gap_list *list = &all->facts->gaps;
    size_t blocks = list->count / BLOCK_GAPS + 1;
    all->idle_before = arena_array(all->arena, blocks, sizeof *all->idle_before, err);
    int64_t sum[IDLE_CAUSE_COUNT] = {0};
    for (uint32_t i = 0; all->idle_before && i < list->count; i++) {
        if (i % BLOCK_GAPS == 0)
            memcpy(all->idle_before[i / BLOCK_GAPS], sum, sizeof sum);
        sum[list->gaps[i].cause] += list->gaps[i].end_ns - list->gaps[i].begin_ns;
    }
    if (all->idle_before && list->count % BLOCK_GAPS == 0)
        memcpy(all->idle_before[blocks - 1], sum, sizeof sum);
    return all->idle_before;
}

// Adds the idle time before a gap, times a sign.
static void add_before(const struct range_parts *all, uint32_t gap, int sign,
                       int64_t sum[IDLE_CAUSE_COUNT])
{
    const struct gap *gaps = all->facts->gaps.gaps;
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++)
        sum[c] += sign * all->idle_before[gap / BLOCK_GAPS][c];
    for (uint32_t i = gap - gap % BLOCK_GAPS; i < gap; i++)
        sum[gaps[i].cause] += sign * (gaps[i].end_ns - gaps[i].begin_ns);
}

// No gap is partly inside a call, whose first device event ends one and whose last starts one.
static bool sum_idle(struct range_parts *all, struct err *err)
{
    uint32_t names = all->tree->by_name.count;
    all->idle_of = arena_array(all->arena, names, sizeof *all->idle_of, err);
    if (!all->idle_of || !sum_gaps(all, err))
        return false;
    for (uint32_t i = 0; i < all->tree->call_count; i++) {
        const struct range_call *call = &all->tree->calls[i];
        if (call->first_ns >= call->last_ns || all->is_nested[call->node])
            continue;
        int64_t *sum = all->idle_of[all->tree->nodes[call->node].name];
        add_before(all, range_tree_gap(all->facts, call->last_ns), 1, sum);
        add_before(all, range_tree_gap(all->facts, call->first_ns), -1, sum);
    }
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

static void put_collective(const struct range_parts *all, uint32_t index, struct row *row)
{
    const struct trace *trace = all->facts->trace;
    const struct collective *c = &trace->collectives[index];
    enum collective_kind kind = bandwidth_kind(trace_text(trace, c->name));
    int64_t bytes = bandwidth_bytes(kind, c, bandwidth_element_bytes(trace_text(trace, c->dtype)));
    row_text_if(row, RANGE_PARTS_COLLECTIVE, c->name != 0, trace_text(trace, c->name));
    row_word(row, RANGE_PARTS_KIND, bandwidth_kind_word(kind));
    row_text_if(row, RANGE_PARTS_DTYPE, c->dtype != 0, trace_text(trace, c->dtype));
    row_i64_if(row, RANGE_PARTS_GROUP_SIZE, c->group_size != VALUE_ABSENT, c->group_size);
    row_text_if(row, RANGE_PARTS_PROCESS_GROUP, c->group != 0, trace_text(trace, c->group));
    row_i64_if(row, RANGE_PARTS_BYTES, bytes >= 0, bytes);
}

static bool add_part(const struct range_parts *all, const struct part *part, const char *range,
                     struct report *report, struct err *err)
{
    const struct facts *facts = all->facts;
    const struct device_event *event = &facts->devices[part->device];
    str_id op = facts_device_op(facts, part->device);
    uint32_t collective = collective_of(facts, part->device);
    struct row row = {.desc = &table_range_parts};
    row_word(&row, RANGE_PARTS_RANGE, range);
    row_word(&row, RANGE_PARTS_BAR, category_bar_word((enum bar)event->bar));
    row_word(&row, RANGE_PARTS_CLASS, event_device_class_word((enum device_class)event->class));
    row_word(&row, RANGE_PARTS_CATEGORY, category_word((enum category)event->category));
    row_text_if(&row, RANGE_PARTS_OP, op != 0, trace_text(facts->trace, op));
    row_text(&row, RANGE_PARTS_KERNEL,
             trace_text(facts->trace, facts_device_name(facts, part->device)));
    if (collective != NO_COLLECTIVE)
        put_collective(all, collective - 1, &row);
    row_i64(&row, RANGE_PARTS_CALLS, part->calls);
    row_i64(&row, RANGE_PARTS_TOTAL_NS, part->total_ns);
    row_i64(&row, RANGE_PARTS_OWNED_NS, part->owned_ns);
    row_i64(&row, RANGE_PARTS_MIN_NS, part->min_ns);
    row_i64(&row, RANGE_PARTS_MAX_NS, part->max_ns);
    return row_end(&row, report, err);
}

// Idle time has its cause as category, as in parts.
static bool add_idle(const struct range_parts *all, uint32_t name, const char *range,
                     struct report *report, struct err *err)
{
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++) {
        struct row row = {.desc = &table_range_parts};
        int64_t ns = all->idle_of[name][c];
        if (ns == 0)
            continue;
        row_word(&row, RANGE_PARTS_RANGE, range);
        row_word(&row, RANGE_PARTS_BAR, category_bar_word(idle_cause_bar((enum idle_cause)c)));
        row_word(&row, RANGE_PARTS_CATEGORY, idle_cause_word((enum idle_cause)c));
        row_i64(&row, RANGE_PARTS_CALLS, 0);
        row_i64(&row, RANGE_PARTS_TOTAL_NS, ns);
        row_i64(&row, RANGE_PARTS_OWNED_NS, ns);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool add_rows(const struct range_parts *all, struct report *report, struct err *err)
{
    uint32_t count = all->by_name.groups.count;
    const char **names = range_tree_names(all->tree, err);
    struct ranked *ranked = arena_array(all->arena, count, sizeof *ranked, err);
    if (!names || !ranked)
        return false;
    for (uint32_t n = 0; n < all->tree->by_name.count && n < MOST_ROWS / IDLE_CAUSE_COUNT; n++)
        if (names[n] && !add_idle(all, n, names[n], report, err))
            return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = names[all->by_name.groups.keys[i].a];
        ranked[i] = (struct ranked){all->by_name.parts[i].owned_ns, str_of(name), i};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count && i < MOST_ROWS; i++) {
        const struct part *part = &all->by_name.parts[ranked[i].index];
        if (!add_part(all, part, ranked[i].name.at, report, err))
            return false;
    }
    return true;
}

bool range_parts_add(const struct range_tree *tree, struct report *report, struct err *err)
{
    struct budget *budget = tree->facts->budget;
    struct range_parts all = {.tree = tree, .facts = tree->facts, .arena = tree->arena};
    groups_init(&all.kinds, budget);
    groups_init(&all.by_node.groups, budget);
    groups_init(&all.by_name.groups, budget);
    all.kind_of = arena_room(all.arena, all.facts->device_count, sizeof *all.kind_of, err);
    bool ok = all.kind_of && (all.is_nested = range_tree_nested(tree, err)) &&
              sum_devices(&all, err) && sum_idle(&all, err) && add_rows(&all, report, err);
    budget_free(budget, all.by_node.parts, all.by_node.cap * sizeof(struct part));
    budget_free(budget, all.by_name.parts, all.by_name.cap * sizeof(struct part));
    groups_free(&all.kinds);
    groups_free(&all.by_node.groups);
    groups_free(&all.by_name.groups);
    return ok;
}
