// SPDX-License-Identifier: Apache-2.0
// What the eight bars of the steady steps consist of.
#include "analysis/trace/analyses.h"
#include "analysis/facts/context.h"
#include "analysis/facts/op_calls.h"
#include "analysis/trace/part_keys.h"
#include "analysis/report/ranked.h"
#include "analysis/names/shape_text.h"
#include "analysis/report/tables.h"

#define MAX_ROWS      20000 // beyond that, modules are merged, then shapes, then kernels
#define OTHER_SHAPES  STR("(other shapes)")
#define OTHER_KERNELS STR("(other kernels)")

struct part_list {
    const struct facts *facts;
    const struct part_keys *keys;
    struct str *paths; // per module, NULL text until needed
    struct arena *scratch;
    struct report *report;
};

static bool find_path(struct part_list *list, uint32_t module, struct str *path, struct err *err)
{
    struct str *kept = &list->paths[module];
    if (!kept->at)
        *kept = context_module_path(list->facts, module, list->scratch, err);
    *path = *kept;
    return kept->at != NULL;
}

static void put_inputs(const struct facts *facts, str_id id, char text[SHAPE_TEXT_SIZE],
                       struct row *row, unsigned column)
{
    if (id == PART_OTHER_SHAPES)
        row_text(row, column, OTHER_SHAPES);
    else
        row_text_if(row, column, id != 0, shape_text(trace_text(facts->trace, id), text));
}

static bool add_part(struct part_list *list, const struct part *part, struct err *err)
{
    const struct facts *facts = list->facts;
    const struct device_event *device = &facts->devices[part->device];
    char dims[SHAPE_TEXT_SIZE], types[SHAPE_TEXT_SIZE];
    struct str path;
    struct row row = {.desc = &table_parts};
    if (!find_path(list, part->module, &path, err))
        return false;
    row_word(&row, PARTS_BAR, category_bar_word((enum bar)device->bar));
    row_word(&row, PARTS_CATEGORY, category_word((enum category)device->category));
    row_text_if(&row, PARTS_OP, part->op != 0, op_calls_name(facts, part->op));
    put_inputs(facts, part->dims, dims, &row, PARTS_DIMS);
    put_inputs(facts, part->types, types, &row, PARTS_TYPES);
    row_text_if(&row, PARTS_MODULE, part->module != 0, path);
    row_text(&row, PARTS_KERNEL, op_calls_name(facts, facts_device_name(facts, part->device)));
    row_i64(&row, PARTS_CALLS, part->calls);
    row_i64(&row, PARTS_OWNED_NS, part->owned_ns);
    return row_end(&row, list->report, err);
}

// A row without an operator.
static bool add_sum(struct part_list *list, enum bar bar, const char *category, struct str kernel,
                    const struct part *part, struct err *err)
{
    struct row row = {.desc = &table_parts};
    row_word(&row, PARTS_BAR, category_bar_word(bar));
    row_word(&row, PARTS_CATEGORY, category);
    row_text_if(&row, PARTS_KERNEL, kernel.len != 0, kernel);
    row_i64(&row, PARTS_CALLS, part->calls);
    row_i64(&row, PARTS_OWNED_NS, part->owned_ns);
    return row_end(&row, list->report, err);
}

// Idle time has its cause as category.
static bool add_idle(struct part_list *list, struct err *err)
{
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++) {
        enum idle_cause cause = (enum idle_cause)c;
        struct part idle = {.owned_ns = list->facts->steady.idle_ns[c]};
        if (idle.owned_ns &&
            !add_sum(list, idle_cause_bar(cause), idle_cause_word(cause), STR(""), &idle, err))
            return false;
    }
    return true;
}

// What has no separate row, by category.
static bool add_others(struct part_list *list, const struct ranked *ranked, uint32_t count,
                       struct err *err)
{
    struct part others[CATEGORY_COUNT] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        const struct part *part = &list->keys->parts[ranked[i].index];
        struct part *other = &others[list->facts->devices[part->device].category];
        other->device = part->device;
        other->calls += part->calls;
        other->owned_ns += part->owned_ns;
    }
    for (int c = 0; c < CATEGORY_COUNT; c++) {
        enum bar bar = (enum bar)list->facts->devices[others[c].device].bar;
        if ((others[c].calls || others[c].owned_ns) &&
            !add_sum(list, bar, category_word((enum category)c), OTHER_KERNELS, &others[c], err))
            return false;
    }
    return true;
}

static bool add_rows(struct part_list *list, struct err *err)
{
    const struct facts *facts = list->facts;
    uint32_t used = 0, single;
    struct ranked *ranked = arena_array(list->scratch, list->keys->used, sizeof *ranked, err);
    list->paths = arena_array(list->scratch, facts->module_count, sizeof *list->paths, err);
    if (!ranked || !list->paths)
        return false;
    for (uint32_t r = 0; r < list->keys->rows.count; r++) {
        const struct part *part = &list->keys->parts[r];
        struct str name = trace_text(facts->trace, facts_device_name(facts, part->device));
        if (part->calls || part->owned_ns)
            ranked[used++] = (struct ranked){part->owned_ns, name, r};
    }
    ranked_sort(ranked, used);
    single = used <= MAX_ROWS ? used : MAX_ROWS - CATEGORY_COUNT;
    for (uint32_t i = 0; i < single; i++)
        if (!add_part(list, &list->keys->parts[ranked[i].index], err))
            return false;
    return (used == single || add_others(list, ranked + single, used - single, err)) &&
           add_idle(list, err);
}

static bool run(const struct facts *facts, struct arena *arena, struct report *report,
                struct err *err)
{
    (void)arena; // each try has its own
    struct arena scratch;
    struct part_keys keys;
    arena_init(&scratch, facts->budget);
    bool ok = part_keys_make(facts, PART_SHAPES_AND_MODULES, &scratch, &keys, err);
    for (int detail = PART_SHAPES; ok && keys.used > MAX_ROWS && detail <= PART_OPERATORS;
         detail++) {
        part_keys_free(&keys);
        arena_free(&scratch);
        arena_init(&scratch, facts->budget);
        ok = part_keys_make(facts, (enum part_detail)detail, &scratch, &keys, err);
    }
    struct part_list list = {.facts = facts, .keys = &keys, .scratch = &scratch, .report = report};
    ok = ok && add_rows(&list, err);
    part_keys_free(&keys);
    arena_free(&scratch);
    return ok;
}

const struct analysis part_rows_analysis = {"parts", run};
