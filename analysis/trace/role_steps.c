// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/role_steps.h"

#include "analysis/names/role_name.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

enum { MOST_ROLES = 16 }; // others are ranges like any other

struct role_step {
    int64_t calls, host_ns, idle_ns, begin_ns, end_ns;
    int64_t class_ns[DEVICE_CLASS_COUNT];
};

struct role_steps {
    const struct range_tree *tree;
    struct str roles[MOST_ROLES];
    uint32_t count;
    uint32_t *name_role; // per name of a range: its role, or FACTS_NONE
    uint32_t *row_of;    // per call: the row that it counts in, or FACTS_NONE
    struct groups keys;  // (role, step)
    struct role_step *rows;
};

static uint32_t find_role(struct role_steps *all, struct str name)
{
    struct str role = role_name_of(name);
    if (!role.at)
        return FACTS_NONE;
    for (uint32_t r = 0; r < all->count; r++)
        if (str_equal(all->roles[r], role))
            return r;
    if (all->count == MOST_ROLES)
        return FACTS_NONE;
    all->roles[all->count] = role;
    return all->count++;
}

static bool find_roles(struct role_steps *all, struct err *err)
{
    const struct range_tree *tree = all->tree;
    all->name_role = arena_array(tree->arena, tree->by_name.count, sizeof *all->name_role, err);
    for (uint32_t n = 0; all->name_role && n < tree->by_name.count; n++)
        all->name_role[n] = find_role(all, tree->names[n].text);
    return all->name_role;
}

// A call within one of a role counts there. Calls come after those around them.
static bool find_rows(struct role_steps *all, struct err *err)
{
    const struct range_tree *tree = all->tree;
    all->row_of = arena_room(tree->arena, tree->call_count, sizeof *all->row_of, err);
    for (uint32_t c = 0; all->row_of && c < tree->call_count; c++) {
        const struct range_call *call = &tree->calls[c];
        uint32_t role = all->name_role[tree->nodes[call->node].name];
        all->row_of[c] = call->parent == FACTS_NONE ? FACTS_NONE : all->row_of[call->parent];
        if (all->row_of[c] == FACTS_NONE && role != FACTS_NONE &&
            !groups_index(&all->keys, role, call->step, &all->row_of[c], err))
            return false;
    }
    all->rows =
        all->row_of ? arena_array(tree->arena, all->keys.count, sizeof *all->rows, err) : NULL;
    for (uint32_t r = 0; all->rows && r < all->keys.count; r++)
        all->rows[r].begin_ns = INT64_MAX;
    return all->rows;
}

static void sum_calls(struct role_steps *all)
{
    const struct range_tree *tree = all->tree;
    for (uint32_t c = 0; c < tree->call_count; c++) {
        const struct range_call *call = &tree->calls[c];
        bool is_outer = call->parent == FACTS_NONE || all->row_of[call->parent] == FACTS_NONE;
        if (all->row_of[c] == FACTS_NONE || !is_outer)
            continue;
        struct role_step *row = &all->rows[all->row_of[c]];
        row->calls++;
        row->host_ns += call->host_ns;
        row->idle_ns += range_tree_idle(tree, call);
        row->begin_ns = call->first_ns < row->begin_ns ? call->first_ns : row->begin_ns;
        row->end_ns = call->last_ns > row->end_ns ? call->last_ns : row->end_ns;
    }
}

static void sum_devices(struct role_steps *all)
{
    const struct facts *facts = all->tree->facts;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        uint32_t call = all->tree->device_call[d];
        uint32_t row = call == FACTS_NONE ? FACTS_NONE : all->row_of[call];
        if (row != FACTS_NONE)
            all->rows[row].class_ns[facts->devices[d].class] += facts->devices[d].owned_ns;
    }
}

static bool add_row(const struct role_steps *all, uint32_t index, struct report *report,
                    struct err *err)
{
    const struct facts *facts = all->tree->facts;
    const struct role_step *of = &all->rows[index];
    const struct group_key *key = &all->keys.keys[index];
    bool works = of->begin_ns < of->end_ns;
    struct row row = {.desc = &table_role_steps};
    row_text(&row, ROLE_STEPS_ROLE, all->roles[key->a]);
    if (key->b != FACTS_NONE)
        row_i64(&row, ROLE_STEPS_STEP, facts->steps[key->b].number);
    row_i64(&row, ROLE_STEPS_CALLS, of->calls);
    row_i64(&row, ROLE_STEPS_HOST_NS, of->host_ns);
    row_i64_if(&row, ROLE_STEPS_BEGIN_NS, works, of->begin_ns - (works ? facts->begin_ns : 0));
    row_i64_if(&row, ROLE_STEPS_END_NS, works, of->end_ns - (works ? facts->begin_ns : 0));
    row_i64(&row, ROLE_STEPS_COMPUTE_NS, of->class_ns[CLASS_COMPUTE]);
    row_i64(&row, ROLE_STEPS_COMMUNICATION_NS, of->class_ns[CLASS_COMMUNICATION]);
    row_i64(&row, ROLE_STEPS_COPY_NS, of->class_ns[CLASS_MEMORY]);
    row_i64(&row, ROLE_STEPS_IDLE_NS, of->idle_ns);
    return row_end(&row, report, err);
}

bool role_steps_add(const struct range_tree *tree, struct report *report, struct err *err)
{
    struct role_steps all = {.tree = tree};
    groups_init(&all.keys, tree->facts->budget);
    bool ok = find_roles(&all, err);
    if (ok && all.count && (ok = find_rows(&all, err))) {
        sum_calls(&all);
        sum_devices(&all);
    }
    for (uint32_t r = 0; ok && r < all.keys.count; r++)
        ok = add_row(&all, r, report, err);
    groups_free(&all.keys);
    return ok;
}
