// SPDX-License-Identifier: Apache-2.0
// Modules of both sides in one tree. A module's share of the trace's busy time becomes its share of
// the mean step's, so that modules sum to the waterfall.
#include "analysis/compare/compare_pair.h"
#include "analysis/names/module_names.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

// One module, first of one run, then of both sides.
struct node {
    struct str path, parent_path;
    struct str recorded[SIDES];
    int64_t depth;
    int64_t self_ns[SIDES], total_ns[SIDES];
    double calls[SIDES];
    bool has[SIDES], has_calls[SIDES];
    size_t parent;          // index of the parent node; the root's is its own
    size_t first, children; // in `order`
};

struct tree {
    struct node *nodes; // by path
    size_t *order;      // nodes by parent, then by difference
    size_t count;
};

static int64_t step_count(const struct compare_run *run)
{
    const struct table *summary = report_find(run->rank, "summary");
    const struct cell *steps =
        summary && summary->row_count ? table_cell(summary, 0, SUMMARY_STEP_COUNT) : NULL;
    return steps && !steps->null && steps->i > 0 ? steps->i : 1;
}

// The fewest steps of a run of the side: as many count of each run, so that all weigh the same.
static int64_t fewest_steps(const struct compare_side *side)
{
    int64_t fewest = step_count(&side->runs[0]);
    for (size_t i = 1; i < side->run_count; i++) {
        int64_t steps = step_count(&side->runs[i]);
        fewest = steps < fewest ? steps : fewest;
    }
    return fewest;
}

// weight: at most 1, of the run's sums.
static struct node read_node(const struct table *modules, const struct module_name *name, int side,
                             double weight)
{
    const struct cell *calls = table_cell(modules, name->row, MODULES_CALLS);
    struct node node = {.path = name->path, .parent_path = name->parent, .depth = name->depth};
    node.recorded[side] = name->recorded;
    node.has[side] = true;
    node.has_calls[side] = !calls->null;
    node.calls[side] = calls->null ? 0 : (double)calls->i * weight;
    node.self_ns[side] =
        llround((double)table_cell(modules, name->row, MODULES_SELF_OWNED_NS)->i * weight);
    return node;
}

static bool read_side(const struct pair *pair, int side, struct tree *tree, struct err *err)
{
    const struct compare_side *from = pair->sides[side]->side;
    double fewest = (double)fewest_steps(from);
    for (size_t r = 0; r < from->run_count; r++) {
        double weight = fewest / (double)step_count(&from->runs[r]);
        const struct table *modules = report_find(from->runs[r].rank, "modules");
        struct module_names names;
        if (!module_names_make(modules, pair->scratch, &names, err))
            return false;
        for (size_t i = 0; i < names.count; i++)
            tree->nodes[tree->count++] = read_node(modules, &names.at[i], side, weight);
    }
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    return str_compare(x->path, y->path);
}

static void join(struct node *into, const struct node *from)
{
    for (int side = 0; side < SIDES; side++) {
        if (!into->has[side])
            into->recorded[side] = from->recorded[side];
        into->has[side] |= from->has[side];
        into->has_calls[side] |= from->has_calls[side];
        into->self_ns[side] += from->self_ns[side];
        into->calls[side] += from->calls[side];
    }
}

static void join_equal(struct tree *tree)
{
    size_t kept = 0;
    qsort(tree->nodes, tree->count, sizeof *tree->nodes, compare_paths);
    for (size_t i = 0; i < tree->count; i++) {
        if (kept && str_equal(tree->nodes[kept - 1].path, tree->nodes[i].path))
            join(&tree->nodes[kept - 1], &tree->nodes[i]);
        else
            tree->nodes[kept++] = tree->nodes[i];
    }
    tree->count = kept;
}

// The root's path is empty, so it is the first node.
static void find_parents(struct tree *tree)
{
    for (size_t i = 1; i < tree->count; i++) {
        const struct node key = {.path = tree->nodes[i].parent_path};
        const struct node *found =
            bsearch(&key, tree->nodes, tree->count, sizeof *tree->nodes, compare_paths);
        bool above = found && found->depth < tree->nodes[i].depth;
        tree->nodes[i].parent = above ? (size_t)(found - tree->nodes) : 0;
    }
}

// --- times --------------------------------------------------------------------------------------

static int64_t busy_ns(const struct compare_pool *pool)
{
    int64_t sum = 0;
    for (int b = 0; b < BAR_DEVICE_COUNT; b++)
        sum += pool->bar_ns[b];
    return sum;
}

// Distributes the busy time of the side's mean step over the modules' own times.
static bool share_side(const struct pair *pair, int side, struct tree *tree, struct err *err)
{
    const struct compare_pool *pool = pair->sides[side];
    int64_t *weights = arena_array(pair->scratch, 2 * tree->count + 1, sizeof *weights, err);
    double steps = (double)fewest_steps(pool->side) * (double)pool->count;
    if (!weights)
        return false;
    for (size_t i = 0; i < tree->count; i++)
        weights[i] = tree->nodes[i].self_ns[side];
    if (!parts_share_out(busy_ns(pool), weights, weights + tree->count, tree->count, err))
        return false;
    for (size_t i = 0; i < tree->count; i++) {
        struct node *node = &tree->nodes[i];
        node->self_ns[side] = node->total_ns[side] = weights[tree->count + i];
        node->calls[side] *= compare_pool_factor(pool) / steps;
    }
    return true;
}

struct deep {
    int64_t depth;
    size_t node;
};

static int compare_depths(const void *a, const void *b)
{
    const struct deep *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

// Adds each node to its parent, the deepest first.
static bool add_up(struct tree *tree, struct arena *arena, struct err *err)
{
    struct deep *deep = arena_array(arena, tree->count + 1, sizeof *deep, err);
    if (!deep)
        return false;
    for (size_t i = 0; i < tree->count; i++)
        deep[i] = (struct deep){tree->nodes[i].depth, i};
    qsort(deep, tree->count, sizeof *deep, compare_depths);
    for (size_t i = 0; i + 1 < tree->count; i++) {
        const struct node *node = &tree->nodes[deep[i].node];
        for (int side = 0; side < SIDES; side++)
            tree->nodes[node->parent].total_ns[side] += node->total_ns[side];
    }
    return true;
}

// --- order --------------------------------------------------------------------------------------

struct place {
    size_t parent, node;
    int64_t apart_ns;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->apart_ns != y->apart_ns)
        return x->apart_ns > y->apart_ns ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

// Makes the children of each node contiguous, the largest differences first.
static bool sort_children(struct tree *tree, struct arena *arena, struct err *err)
{
    struct place *places = arena_array(arena, tree->count, sizeof *places, err);
    tree->order = arena_array(arena, tree->count, sizeof *tree->order, err);
    if (!places || !tree->order)
        return false;
    for (size_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        places[i] =
            (struct place){node->parent, i, llabs(node->total_ns[CAND] - node->total_ns[BASE])};
    }
    qsort(places + 1, tree->count - 1, sizeof *places, compare_places);
    for (size_t i = 1; i < tree->count; i++) {
        struct node *parent = &tree->nodes[places[i].parent];
        tree->order[i] = places[i].node;
        if (parent->children++ == 0)
            parent->first = i;
    }
    return true;
}

static bool add_node(const struct pair *pair, const struct node *node, struct err *err)
{
    const int64_t *total = node->total_ns, *self = node->self_ns;
    struct row row = {.desc = &table_compare_modules};
    row_i64(&row, COMPARE_MODULES_CAND, pair->number);
    row_text(&row, COMPARE_MODULES_PATH, node->path);
    row_i64(&row, COMPARE_MODULES_DEPTH, node->depth);
    row_i64_if(&row, COMPARE_MODULES_BASE_NS, node->has[BASE], total[BASE]);
    row_i64_if(&row, COMPARE_MODULES_CAND_NS, node->has[CAND], total[CAND]);
    row_i64(&row, COMPARE_MODULES_DELTA_NS, total[CAND] - total[BASE]);
    row_i64_if(&row, COMPARE_MODULES_BASE_SELF_NS, node->has[BASE], self[BASE]);
    row_i64_if(&row, COMPARE_MODULES_CAND_SELF_NS, node->has[CAND], self[CAND]);
    row_i64(&row, COMPARE_MODULES_DELTA_SELF_NS, self[CAND] - self[BASE]);
    for (int side = 0; side < SIDES; side++)
        row_f64_if(&row, COMPARE_MODULES_BASE_CALLS + side, node->has_calls[side],
                   node->calls[side]);
    for (int side = 0; side < SIDES; side++)
        row_text_if(&row, COMPARE_MODULES_BASE_PATH + side, node->has[side], node->recorded[side]);
    return row_end(&row, pair->report, err);
}

// Parents before their children.
static bool write_tree(const struct pair *pair, const struct tree *tree, struct err *err)
{
    size_t *waiting = arena_array(pair->scratch, tree->count + 1, sizeof *waiting, err);
    size_t count = 0;
    if (!waiting)
        return false;
    waiting[count++] = 0;
    while (count) {
        const struct node *node = &tree->nodes[waiting[--count]];
        if (!add_node(pair, node, err))
            return false;
        for (size_t i = node->children; i > 0; i--)
            waiting[count++] = tree->order[node->first + i - 1];
    }
    return true;
}

bool compare_modules_write(const struct pair *pair, struct err *err)
{
    size_t room = compare_side_rows(pair->sides[BASE]->side, true, "modules") +
                  compare_side_rows(pair->sides[CAND]->side, true, "modules");
    struct tree tree = {.nodes = arena_array(pair->scratch, room + 1, sizeof *tree.nodes, err)};
    if (!tree.nodes)
        return false;
    for (int side = 0; side < SIDES; side++)
        if (!read_side(pair, side, &tree, err))
            return false;
    join_equal(&tree);
    if (tree.count < 2)
        return true; // only roots
    find_parents(&tree);
    for (int side = 0; side < SIDES; side++)
        if (!share_side(pair, side, &tree, err))
            return false;
    return add_up(&tree, pair->scratch, err) && sort_children(&tree, pair->scratch, err) &&
           write_tree(pair, &tree, err);
}
