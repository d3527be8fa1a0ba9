// SPDX-License-Identifier: Apache-2.0
// A tree of modules, children found by hashing parent and name.
#include "analysis/facts/module_tree.h"

#define PREFIX         STR("nn.Module: ")
#define PART_FLAG      ((uint64_t)1 << 32) // separates parts of hierarchies from names of frames
#define NAME_MAX_BYTES 256 // longer ones are cut; hostile names would be written per module

static bool append(struct module_tree *tree, uint32_t parent, struct str name, struct err *err)
{
    struct module *modules = budget_room(tree->children.budget, tree->modules, &tree->cap,
                                         tree->count + (size_t)1, sizeof *modules, err);
    if (!modules)
        return false;
    tree->modules = modules;
    uint32_t depth = tree->count ? tree->modules[parent].depth + 1 : 0;
    if (name.len > NAME_MAX_BYTES) {
        name.len = NAME_MAX_BYTES;
        name.len = str_valid_utf8(name);
    }
    tree->modules[tree->count++] = (struct module){.parent = parent, .depth = depth, .name = name};
    return true;
}

bool module_tree_init(struct module_tree *tree, const struct trace *trace, struct budget *budget,
                      struct err *err)
{
    *tree = (struct module_tree){.trace = trace};
    groups_init(&tree->children, budget);
    groups_init(&tree->texts, budget);
    return append(tree, 0, (struct str){"", 0}, err);
}

void module_tree_free(struct module_tree *tree)
{
    struct budget *budget = tree->children.budget;
    groups_free(&tree->children);
    groups_free(&tree->texts);
    budget_free(budget, tree->modules, tree->cap * sizeof *tree->modules);
    budget_free(budget, tree->text_modules, tree->text_cap * sizeof *tree->text_modules);
    if (tree->has_parts)
        strtab_free(&tree->parts);
    tree->modules = NULL;
    tree->text_modules = NULL;
}

static bool child(struct module_tree *tree, uint32_t parent, uint64_t key, struct str name,
                  uint32_t *module, struct err *err)
{
    *module = parent;
    if (tree->modules[parent].depth == MODULE_MAX_DEPTH)
        return true;
    uint32_t index;
    if (!groups_index(&tree->children, parent, key, &index, err))
        return false;
    if (index + 1 >= tree->count) {
        if (tree->count == MODULE_MAX_COUNT)
            return true;
        if (!append(tree, parent, name, err))
            return false;
    }
    *module = index + 1;
    return true;
}

bool module_tree_child(struct module_tree *tree, uint32_t parent, str_id frame, uint32_t *module,
                       struct err *err)
{
    struct str name = trace_text(tree->trace, frame);
    if (str_starts_with(name, PREFIX))
        name = (struct str){name.at + PREFIX.len, name.len - PREFIX.len};
    return child(tree, parent, frame, name, module, err);
}

// Cuts the next part off the hierarchy: "conv1(Conv2d)" of "conv1(Conv2d)::forward.rest".
static struct str next_part(struct str *rest)
{
    size_t end = str_find(*rest, STR("."));
    struct str part = {rest->at, end == SIZE_MAX ? rest->len : end};
    size_t used = end == SIZE_MAX ? rest->len : end + 1;
    *rest = (struct str){rest->at + used, rest->len - used};
    size_t method = str_find(part, STR("::"));
    if (method != SIZE_MAX)
        part.len = method;
    return part;
}

// "SELF(...)" is another method of the parent module, not a module.
static bool parse(struct module_tree *tree, struct str text, uint32_t *module, struct err *err)
{
    *module = 0;
    while (text.len && tree->modules[*module].depth < MODULE_MAX_DEPTH) {
        struct str part = next_part(&text);
        str_id id;
        if (part.len == 0 || str_starts_with(part, STR("SELF(")))
            continue;
        if (!strtab_intern(&tree->parts, part, &id, err) ||
            !child(tree, *module, PART_FLAG | id, part, module, err))
            return false;
    }
    return true;
}

bool module_tree_hierarchy(struct module_tree *tree, str_id text, uint32_t *module, struct err *err)
{
    if (!tree->has_parts && !strtab_init(&tree->parts, tree->texts.budget, err))
        return false;
    tree->has_parts = true;
    uint32_t known = tree->texts.count, index;
    if (!groups_index(&tree->texts, text, 0, &index, err))
        return false;
    uint32_t *modules = budget_room(tree->texts.budget, tree->text_modules, &tree->text_cap,
                                    tree->texts.count, sizeof *modules, err);
    if (!modules)
        return false;
    tree->text_modules = modules;
    if (index == known && !parse(tree, trace_text(tree->trace, text), &modules[index], err))
        return false;
    *module = modules[index];
    return true;
}

bool module_tree_finish(struct module_tree *tree, struct facts *facts, struct err *err)
{
    facts->modules = arena_array(facts->arena, tree->count, sizeof *facts->modules, err);
    if (!facts->modules)
        return false;
    facts->module_count = tree->count;
    memcpy(facts->modules, tree->modules, tree->count * sizeof *tree->modules);
    return true;
}
