// SPDX-License-Identifier: Apache-2.0
// The operator call tree with the kernels they launched, merged by path of names.
// About 5 % of the scan's time: each call is looked up below its parent, as names alone do not
// identify branches.
#include "analysis/trace/analyses.h"
#include "analysis/stats/groups.h"
#include "analysis/facts/op_calls.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

// Operators deeper than this, and nodes beyond the limit, count as their parent.
#define MAX_DEPTH 64
#define MAX_NODES 200000

enum node_kind { NODE_ROOT, NODE_OP, NODE_KERNEL, NODE_UNLINKED, NODE_MORE };

struct tree_node {
    uint32_t parent, depth, children;
    str_id name;
    uint8_t kind;
    int64_t calls, self_ns, total_ns;
};

struct op_tree {
    const struct facts *facts;
    struct groups keys; // (parent, name and kind) -> node - 1
    struct tree_node *nodes;
    uint32_t count;
    size_t cap;
};

static bool append(struct op_tree *tree, struct tree_node node, struct err *err)
{
    struct tree_node *nodes = budget_room(tree->keys.budget, tree->nodes, &tree->cap,
                                          tree->count + (size_t)1, sizeof *nodes, err);
    if (!nodes)
        return false;
    tree->nodes = nodes;
    tree->nodes[tree->count++] = node;
    return true;
}

static bool add_child(struct op_tree *tree, uint32_t parent, str_id name, enum node_kind kind,
                      struct err *err)
{
    tree->nodes[parent].children++;
    return append(tree,
                  (struct tree_node){.parent = parent,
                                     .depth = tree->nodes[parent].depth + 1,
                                     .name = name,
                                     .kind = (uint8_t)kind},
                  err);
}

// The node with that name and kind below parent, added if new; beyond MAX_NODES only NODE_MORE is
// added, at most one per node.
static inline bool child(struct op_tree *tree, uint32_t parent, str_id name, enum node_kind kind,
                         uint32_t *node, struct err *err)
{
    uint32_t index;
    if (!groups_index(&tree->keys, parent, (uint64_t)kind << 32 | name, &index, err))
        return false;
    *node = index + 1;
    return *node < tree->count || add_child(tree, parent, name, kind, err);
}

// A kernel is a leaf below the node that launched it.
static bool add_device(struct op_tree *tree, uint32_t parent, uint32_t device, struct err *err)
{
    bool full = tree->count >= MAX_NODES;
    str_id name = full ? 0 : facts_device_name(tree->facts, device);
    uint32_t leaf;
    if (!child(tree, parent, name, full ? NODE_MORE : NODE_KERNEL, &leaf, err))
        return false;
    int64_t owned_ns = tree->facts->devices[device].owned_ns;
    tree->nodes[leaf].calls++;
    tree->nodes[leaf].self_ns += owned_ns;
    tree->nodes[leaf].total_ns += owned_ns;
    tree->nodes[parent].self_ns += owned_ns;
    return true;
}

static bool enter(void *context, struct op_frame *frame, const struct op_frame *above,
                  struct err *err)
{
    struct op_tree *tree = context;
    uint32_t parent = above ? above->mark : 0;
    frame->mark = parent;
    if (tree->nodes[parent].depth == MAX_DEPTH || tree->count >= MAX_NODES)
        return true;
    if (!child(tree, parent, tree->facts->trace->name[frame->op], NODE_OP, &frame->mark, err))
        return false;
    tree->nodes[frame->mark].calls++;
    return true;
}

static bool launched(void *context, struct op_frame *frame, const struct op_call *call,
                     struct err *err)
{
    struct op_tree *tree = context;
    const struct facts *facts = tree->facts;
    for (uint32_t i = call->from; i < call->to; i++)
        for (uint32_t d = facts->launches[facts->calls->order[i]].first; d != FACTS_NONE;
             d = facts->devices[d].next)
            if (!add_device(tree, frame->mark, d, err))
                return false;
    return true;
}

static void leave(void *context, const struct op_frame *frame, struct op_frame *above, uint32_t to)
{
    (void)context;
    (void)frame;
    (void)above;
    (void)to;
}

static bool add_unlinked(struct op_tree *tree, struct err *err)
{
    const struct facts *facts = tree->facts;
    uint32_t node = 0;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        uint32_t launch = facts->devices[d].launch;
        if (launch != FACTS_NONE && facts->launches[launch].op != FACTS_NONE)
            continue;
        if (!node && !child(tree, 0, 0, NODE_UNLINKED, &node, err))
            return false;
        tree->nodes[node].calls++;
        if (!add_device(tree, node, d, err))
            return false;
    }
    return true;
}

// Children come after their parents, so one pass from the end sums everything.
static void sum(struct op_tree *tree)
{
    for (uint32_t n = tree->count; n-- > 1;)
        tree->nodes[tree->nodes[n].parent].total_ns += tree->nodes[n].total_ns;
}

static struct str name_of(const struct op_tree *tree, const struct tree_node *node)
{
    if (node->kind == NODE_UNLINKED)
        return STR("(no operator)");
    if (node->kind == NODE_MORE)
        return STR("(more)");
    return op_calls_name(tree->facts, node->name);
}

static const char *kind_word(enum node_kind kind)
{
    static const char *const words[] = {"root", "op", "kernel", "unlinked", "more"};
    return words[kind];
}

static bool add_row(const struct op_tree *tree, uint32_t index, struct report *report,
                    struct err *err)
{
    const struct tree_node *node = &tree->nodes[index];
    struct row row = {.desc = &table_op_tree};
    row_i64(&row, OP_TREE_ID, index);
    row_i64_if(&row, OP_TREE_PARENT, index != 0, node->parent);
    row_i64(&row, OP_TREE_DEPTH, node->depth);
    row_i64(&row, OP_TREE_CHILDREN, node->children);
    row_text_if(&row, OP_TREE_NAME, index != 0, name_of(tree, node));
    row_word(&row, OP_TREE_KIND, kind_word((enum node_kind)node->kind));
    row_i64_if(&row, OP_TREE_CALLS, index != 0, node->calls);
    row_i64(&row, OP_TREE_SELF_OWNED_NS, node->self_ns);
    row_i64(&row, OP_TREE_TOTAL_OWNED_NS, node->total_ns);
    if (index)
        row_share(&row, OP_TREE_PARENT_SHARE, node->total_ns, tree->nodes[node->parent].total_ns);
    return row_end(&row, report, err);
}

static bool add_rows(const struct op_tree *tree, struct arena *arena, struct report *report,
                     struct err *err)
{
    struct ranked *ranked = arena_array(arena, tree->count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t n = 0; n < tree->count; n++)
        ranked[n] = (struct ranked){tree->nodes[n].total_ns, name_of(tree, &tree->nodes[n]), n};
    ranked_sort(ranked + 1, tree->count - 1);
    for (uint32_t i = 0; i < tree->count; i++)
        if (!add_row(tree, ranked[i].index, report, err))
            return false;
    return true;
}

static bool fill(struct op_tree *tree, struct arena *arena, struct report *report, struct err *err)
{
    const struct op_visitor visitor = {tree, enter, launched, leave};
    if (!append(tree, (struct tree_node){.kind = NODE_ROOT}, err) ||
        !op_calls_walk(tree->facts, &visitor, err) || !add_unlinked(tree, err))
        return false;
    sum(tree);
    return add_rows(tree, arena, report, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    if (facts->device_count == 0)
        return true;
    struct op_tree tree = {.facts = facts};
    groups_init(&tree.keys, facts->budget);
    bool ok = fill(&tree, scratch, report, err);
    budget_free(facts->budget, tree.nodes, tree.cap * sizeof *tree.nodes);
    groups_free(&tree.keys);
    return ok;
}

const struct analysis op_tree_analysis = {"op_tree", run};
