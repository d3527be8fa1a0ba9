// SPDX-License-Identifier: Apache-2.0
// Renumbers the instances of modules below each parent.
#include "analysis/names/module_names.h"

#include "analysis/report/tables.h"
#include <stdlib.h>

#define MAX_PATH 1024

// A module among the children of its parent.
struct child {
    size_t id, parent;
    struct str class;
    int64_t number; // as recorded, -1 without
    size_t index;   // among those of its class
};

// "Linear_12" is number 12 of Linear.
static void split_name(struct str name, struct str *class, int64_t *number)
{
    size_t end = str_digits_start(name, name.len);
    *class = name;
    *number = -1;
    struct str digits = {name.at + end, name.len - end};
    if (end > 1 && name.at[end - 1] == '_' && digits.len && str_to_i64(digits, number))
        class->len = end - 1;
}

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    int order = str_compare(x->class, y->class);
    if (order == 0 && x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static int compare_ids(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int compare_recorded(const void *a, const void *b)
{
    const struct module_name *x = a, *y = b;
    return str_compare(x->recorded, y->recorded);
}

static struct child read_child(const struct table *modules, const struct module_name *name,
                               size_t id)
{
    const struct cell *parent = table_cell(modules, name->row, MODULES_PARENT);
    struct child child = {.id = id};
    if (!parent->null && parent->i > 0 && (uint64_t)parent->i < id)
        child.parent = (size_t)parent->i;
    split_name(table_cell(modules, name->row, MODULES_NAME)->s, &child.class, &child.number);
    return child;
}

static void number_children(struct child *children, size_t count)
{
    qsort(children, count, sizeof *children, compare_children);
    for (size_t i = 1; i < count; i++) {
        bool alike = children[i].parent == children[i - 1].parent &&
                     str_equal(children[i].class, children[i - 1].class);
        children[i].index = alike ? children[i - 1].index + 1 : 0;
    }
    qsort(children, count, sizeof *children, compare_ids);
}

static bool name_child(const struct child *child, struct module_name *names, struct arena *arena,
                       struct err *err)
{
    const struct module_name *parent = &names[child->parent];
    struct module_name *name = &names[child->id];
    const char *text;
    if (parent->path.len + child->class.len > MAX_PATH)
        text = arena_printf(arena, err, "%.*s/... %zu", MAX_PATH / 2, parent->path.at, child->id);
    else
        text = arena_printf(arena, err, "%.*s%s%.*s_%zu", (int)parent->path.len, parent->path.at,
                            parent->path.len ? "/" : "", (int)child->class.len, child->class.at,
                            child->index);
    if (!text)
        return false;
    name->path = str_of(text);
    name->parent = parent->path;
    name->depth = parent->depth + 1;
    return true;
}

// Puts each row at the position of its id.
static bool read_rows(const struct table *modules, struct module_names *names, struct err *err)
{
    for (size_t i = 0; i < names->count; i++) {
        int64_t id = table_cell(modules, i, MODULES_ID)->i;
        if (id < 0 || (uint64_t)id >= names->count || names->at[id].recorded.at)
            return err_set(err, ERR_FORMAT,
                           "modules: found id %lld, expected each of 0 to %zu once", (long long)id,
                           names->count - 1);
        names->at[id] =
            (struct module_name){.recorded = table_cell(modules, i, MODULES_PATH)->s, .row = i};
    }
    return true;
}

static bool name_all(const struct table *modules, struct arena *arena, struct module_names *names,
                     struct err *err)
{
    struct child *children = arena_array(arena, names->count, sizeof *children, err);
    if (!children)
        return false;
    for (size_t id = 1; id < names->count; id++)
        children[id] = read_child(modules, &names->at[id], id);
    number_children(children + 1, names->count - 1);
    for (size_t id = 1; id < names->count; id++)
        if (!name_child(&children[id], names->at, arena, err))
            return false;
    return true;
}

bool module_names_make(const struct table *modules, struct arena *arena, struct module_names *names,
                       struct err *err)
{
    size_t count = modules ? modules->row_count : 0;
    *names = (struct module_names){arena_array(arena, count + 1, sizeof *names->at, err), count};
    if (!names->at || !read_rows(modules, names, err))
        return false;
    if (count > 1 && !name_all(modules, arena, names, err))
        return false;
    qsort(names->at, count, sizeof *names->at, compare_recorded);
    return true;
}

struct str module_names_path(const struct module_names *names, struct str recorded)
{
    const struct module_name key = {.recorded = recorded};
    const struct module_name *found =
        bsearch(&key, names->at, names->count, sizeof *names->at, compare_recorded);
    return found ? found->path : recorded;
}
