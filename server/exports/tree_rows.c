// SPDX-License-Identifier: Apache-2.0
#include "server/exports/tree_rows.h"

#include <stdlib.h>

bool tree_rows_suit(const struct table_desc *desc)
{
    return table_column(desc, STR("id")) >= 0 && table_column(desc, STR("parent")) >= 0 &&
           table_column(desc, STR("name")) >= 0 && table_column(desc, STR("total_owned_ns")) >= 0;
}

// --- gathering ----------------------------------------------------------------------------------

static int64_t number(const struct table *rows, size_t row, const char *name, int64_t otherwise)
{
    int column = table_column(rows->desc, str_of(name));
    struct cell cell = column < 0 ? cell_null() : export_cell(rows, row, (unsigned)column);
    return cell.null ? otherwise : cell.i;
}

static bool make_room(struct tree_rows *tree)
{
    struct tree_node *grown =
        tree->count < TREE_NONE
            ? budget_room(NULL, tree->nodes, &tree->room, tree->count + 1, sizeof *grown, NULL)
            : NULL;
    tree->nodes = grown ? grown : tree->nodes;
    return grown;
}

static void add_tree(struct tree_rows *tree, const struct table *rows)
{
    int name = table_column(rows->desc, STR("name"));
    for (size_t row = 0; row < rows->row_count && !tree->failed; row++) {
        if (!make_room(tree)) {
            tree->failed = true;
            return;
        }
        struct cell text = export_cell(rows, row, (unsigned)name);
        struct str shown = text.null || !text.s.len ? STR("all") : text.s; // the root
        tree->nodes[tree->count++] =
            (struct tree_node){.id = number(rows, row, "id", -1),
                               .parent = number(rows, row, "parent", -1),
                               .above = TREE_NONE,
                               .name_at = tree->names.len,
                               .name_len = shown.len,
                               .total_ns = number(rows, row, "total_owned_ns", 0),
                               .calls = number(rows, row, "calls", 0)};
        buf_add_str(&tree->names, shown);
        tree->failed |= tree->names.failed;
    }
}

// --- links --------------------------------------------------------------------------------------

static int by_id(const void *a, const void *b)
{
    int64_t left = ((const struct tree_node *)a)->id, right = ((const struct tree_node *)b)->id;
    return (left > right) - (left < right);
}

static uint32_t find(const struct tree_rows *tree, int64_t id)
{
    struct tree_node key = {.id = id};
    const struct tree_node *found =
        tree->count ? bsearch(&key, tree->nodes, tree->count, sizeof key, by_id) : NULL;
    return found ? (uint32_t)(found - tree->nodes) : TREE_NONE;
}

// Times that do not add up, as when rows were filtered out, stay with the node below.
static void link_nodes(struct tree_rows *tree)
{
    if (tree->count)
        qsort(tree->nodes, tree->count, sizeof *tree->nodes, by_id);
    for (size_t i = 0; i < tree->count; i++)
        tree->nodes[i].self_ns = tree->nodes[i].total_ns;
    for (size_t i = 0; i < tree->count; i++) {
        struct tree_node *node = &tree->nodes[i];
        uint32_t above = node->parent >= 0 ? find(tree, node->parent) : TREE_NONE;
        if (above == TREE_NONE || above >= i) // parents have smaller numbers: no circles
            continue;
        node->above = above;
        tree->nodes[above].self_ns -= node->total_ns;
    }
}

struct named {
    struct str name;
    uint32_t node;
};

static int by_name(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    size_t len = left->name.len < right->name.len ? left->name.len : right->name.len;
    int order = len ? memcmp(left->name.at, right->name.at, len) : 0;
    return order ? order : (left->name.len > right->name.len) - (left->name.len < right->name.len);
}

static bool number_frames(struct tree_rows *tree)
{
    struct named *named = malloc((tree->count + 1) * sizeof *named);
    tree->frames = malloc((tree->count + 1) * sizeof *tree->frames);
    for (size_t i = 0; named && i < tree->count; i++)
        named[i] = (struct named){tree_rows_name(tree, i), (uint32_t)i};
    if (named && tree->frames && tree->count)
        qsort(named, tree->count, sizeof *named, by_name);
    for (size_t i = 0; named && tree->frames && i < tree->count; i++) {
        if (i == 0 || by_name(&named[i - 1], &named[i]) != 0)
            tree->frames[tree->frame_count++] = named[i].node;
        tree->nodes[named[i].node].frame = (uint32_t)(tree->frame_count - 1);
    }
    free(named);
    return named && tree->frames;
}

bool tree_rows_finish(struct tree_rows *tree, struct err *err)
{
    if (!tree->failed) {
        link_nodes(tree);
        tree->failed = !number_frames(tree);
    }
    return !tree->failed || err_set(err, ERR_MEMORY, "out of memory for a tree");
}

static void free_tree(struct tree_rows *tree)
{
    free(tree->nodes);
    free(tree->frames);
    buf_free(&tree->names);
}

struct str tree_rows_name(const struct tree_rows *tree, size_t node)
{
    const struct tree_node *at = &tree->nodes[node];
    return at->name_len ? (struct str){tree->names.at + at->name_at, at->name_len} : STR("");
}

unsigned tree_rows_stack(const struct tree_rows *tree, size_t node, uint32_t frames[TREE_DEPTH])
{
    unsigned depth = 0;
    for (uint32_t at = (uint32_t)node; at != TREE_NONE && depth < TREE_DEPTH;
         at = tree->nodes[at].above)
        frames[depth++] = tree->nodes[at].frame;
    return depth;
}

// --- as the state of a format -------------------------------------------------------------------

bool tree_rows_open(struct export_view *view, struct err *err)
{
    view->state = calloc(1, sizeof(struct tree_rows));
    return view->state || err_set(err, ERR_MEMORY, "out of memory");
}

void tree_rows_close(void *state)
{
    free_tree(state);
    free(state);
}

void tree_rows_put(const struct export_view *view, const struct table *rows, uint64_t before,
                   struct buf *out)
{
    (void)before;
    (void)out;
    add_tree(view->state, rows);
}
