// SPDX-License-Identifier: Apache-2.0
// Builds the levels of the waterfall from matched leaves, pairs the kernels of each shape, and
// distributes the times per step so that every level sums exactly.
#include "analysis/stats/tally.h"
#include "analysis/compare/waterfall_tree.h"

#include <stdlib.h>

// One kernel of a shape, over its modules.
struct kernel {
    str_id name;
    int64_t ns[SIDES], calls[SIDES];
    bool has[SIDES];
    enum rung rung;
    uint32_t node;
};

struct builder {
    struct fall *fall;
    struct kernel *kernels;      // of the shape being built
    struct kernel **only[SIDES]; // of these, the ones only one side has
    size_t kernel_count, only_count[SIDES];
};

static struct fall_node *last_shape(struct fall *fall)
{
    const struct fall_level *shapes = &fall->levels[LEVEL_SHAPE];
    return &shapes->at[shapes->count - 1];
}

// Adds a node below the last one of the level above, or below its bar.
static struct fall_node *push(struct fall *fall, enum level level, const struct leaf *leaf)
{
    const struct fall_level *above = &fall->levels[level - 1];
    struct fall_level *own = &fall->levels[level];
    uint32_t parent = level == LEVEL_CATEGORY ? leaf->bar : (uint32_t)above->count - 1;
    if (above->at[parent].count++ == 0)
        above->at[parent].first = (uint32_t)own->count;
    struct fall_node *node = &own->at[own->count++];
    *node = (struct fall_node){.bar = leaf->bar, .category = leaf->category, .parent = parent};
    return node;
}

// --- kernels of a shape -------------------------------------------------------------------------

static void gather_kernels(struct builder *builder, struct leaf **at, size_t count)
{
    builder->kernel_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct leaf *leaf = at[i];
        if (i == 0 || at[i - 1]->kernel != leaf->kernel)
            builder->kernels[builder->kernel_count++] = (struct kernel){.name = leaf->kernel};
        struct kernel *kernel = &builder->kernels[builder->kernel_count - 1];
        for (int side = 0; side < SIDES; side++) {
            kernel->ns[side] += leaf->ns[side];
            kernel->calls[side] += leaf->calls[side];
            kernel->has[side] |= leaf->has[side];
        }
        if (leaf->rung > kernel->rung)
            kernel->rung = leaf->rung;
        at[i]->node = (uint32_t)builder->kernel_count - 1; // until nodes are numbered
    }
}

static int compare_most(const struct kernel *x, const struct kernel *y, int side)
{
    if (x->ns[side] != y->ns[side])
        return x->ns[side] > y->ns[side] ? -1 : 1;
    if (x->calls[side] != y->calls[side])
        return x->calls[side] > y->calls[side] ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static int compare_base(const void *a, const void *b)
{
    return compare_most(*(struct kernel *const *)a, *(struct kernel *const *)b, BASE);
}

static int compare_cand(const void *a, const void *b)
{
    return compare_most(*(struct kernel *const *)a, *(struct kernel *const *)b, CAND);
}

static void add_kernel(struct builder *builder, const struct leaf *leaf, struct kernel *base,
                       struct kernel *cand)
{
    struct kernel *kernels[SIDES] = {base, cand};
    struct fall_node *node = push(builder->fall, LEVEL_KERNEL, leaf);
    for (int side = 0; side < SIDES; side++) {
        if (!kernels[side])
            continue;
        node->kernel[side] = kernels[side]->name;
        node->total_ns[side] = kernels[side]->ns[side];
        node->calls[side] = kernels[side]->calls[side];
        if (kernels[side]->rung > node->rung)
            node->rung = kernels[side]->rung;
        kernels[side]->node = (uint32_t)builder->fall->levels[LEVEL_KERNEL].count - 1;
    }
}

// Same names first; the rest in order of time, as an operator shows that it is the same work.
static void pair_kernels(struct builder *builder, const struct leaf *leaf)
{
    builder->only_count[BASE] = builder->only_count[CAND] = 0;
    for (size_t i = 0; i < builder->kernel_count; i++) {
        struct kernel *kernel = &builder->kernels[i];
        int side = kernel->has[BASE] ? BASE : CAND;
        if (kernel->has[BASE] && kernel->has[CAND])
            add_kernel(builder, leaf, kernel, kernel);
        else
            builder->only[side][builder->only_count[side]++] = kernel;
    }
    size_t bases = builder->only_count[BASE], cands = builder->only_count[CAND];
    qsort(builder->only[BASE], bases, sizeof *builder->only[BASE], compare_base);
    qsort(builder->only[CAND], cands, sizeof *builder->only[CAND], compare_cand);
    size_t paired = leaf->rung > RUNG_OP ? 0 : bases < cands ? bases : cands;
    for (size_t i = 0; i < paired; i++)
        add_kernel(builder, leaf, builder->only[BASE][i], builder->only[CAND][i]);
    for (size_t i = paired; i < bases; i++)
        add_kernel(builder, leaf, builder->only[BASE][i], NULL);
    for (size_t i = paired; i < cands; i++)
        add_kernel(builder, leaf, NULL, builder->only[CAND][i]);
}

// --- levels -------------------------------------------------------------------------------------

static bool has_op(const struct leaf *leaf)
{
    return leaf->rung != RUNG_KERNEL;
}

// Opens the rows above the shape when the leaf starts another one.
static void open_rows(struct fall *fall, const struct leaf *leaf, const struct leaf *before)
{
    bool other = !before || before->bar != leaf->bar || before->category != leaf->category;
    if (other)
        push(fall, LEVEL_CATEGORY, leaf);
    if (other || before->op_key != leaf->op_key) {
        struct fall_node *node = push(fall, LEVEL_OP, leaf);
        node->op = has_op(leaf) && leaf->rung != RUNG_CATEGORY ? leaf->op : 0;
    }
    struct fall_node *shape = push(fall, LEVEL_SHAPE, leaf);
    shape->op = has_op(leaf) ? leaf->op : 0;
}

static bool same_shape(const struct leaf *x, const struct leaf *y)
{
    return x->bar == y->bar && x->category == y->category && x->op_key == y->op_key &&
           x->shape_key == y->shape_key;
}

// The shape common to all leaves of a row, 0 if there is none.
static uint32_t common_shape(struct leaf **at, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (at[i]->shape != at[0]->shape)
            return 0;
    return has_op(at[0]) ? at[0]->shape : 0;
}

static void build_shape(struct builder *builder, struct leaf **at, size_t count,
                        const struct leaf *before)
{
    struct fall *fall = builder->fall;
    open_rows(fall, at[0], before);
    last_shape(fall)->shape = common_shape(at, count);
    size_t known = fall->levels[LEVEL_KERNEL].count;
    gather_kernels(builder, at, count);
    pair_kernels(builder, at[0]);
    for (size_t i = 0; i < count; i++)
        at[i]->node = builder->kernels[at[i]->node].node;
    for (size_t k = known; k < fall->levels[LEVEL_KERNEL].count; k++) {
        struct fall_node *kernel = &fall->levels[LEVEL_KERNEL].at[k];
        kernel->op = last_shape(fall)->op;
        kernel->shape = last_shape(fall)->shape;
    }
}

static void build_levels(struct builder *builder)
{
    struct fall *fall = builder->fall;
    for (uint32_t b = 0; b < BAR_COUNT; b++)
        fall->levels[LEVEL_BAR].at[fall->levels[LEVEL_BAR].count++] = (struct fall_node){.bar = b};
    for (size_t from = 0, to; from < fall->leaf_count; from = to) {
        for (to = from + 1; to < fall->leaf_count; to++)
            if (!same_shape(fall->order[to], fall->order[from]))
                break;
        build_shape(builder, fall->order + from, to - from, from ? fall->order[from - 1] : NULL);
    }
}

static void add_up(struct fall *fall)
{
    for (int level = LEVEL_KERNEL; level > LEVEL_BAR; level--)
        for (size_t i = 0; i < fall->levels[level].count; i++) {
            const struct fall_node *node = &fall->levels[level].at[i];
            struct fall_node *parent = &fall->levels[level - 1].at[node->parent];
            for (int side = 0; side < SIDES; side++) {
                parent->total_ns[side] += node->total_ns[side];
                parent->calls[side] += node->calls[side];
            }
            if (node->rung > parent->rung)
                parent->rung = node->rung;
        }
}

// --- the kernel with most of a row's time -------------------------------------------------------

// Names the kernel with most time in each row of a level, on one side.
static bool name_kernels(struct fall *fall, enum level level, int side, struct err *err)
{
    struct fall_level *own = &fall->levels[level];
    const struct fall_level *kernels = &fall->levels[LEVEL_KERNEL];
    uint32_t *most = arena_array(fall->pair->scratch, own->count + 1, sizeof *most, err);
    int64_t *best = arena_array(fall->pair->scratch, own->count + 1, sizeof *best, err);
    if (!most || !best)
        return false;
    for (size_t i = 0; i < own->count; i++)
        best[i] = -1;
    struct tally tally;
    tally_init(&tally, fall->budget);
    bool ok = true;
    for (size_t i = 0; ok && i < kernels->count; i++) {
        const struct fall_node *kernel = &kernels->at[i];
        uint32_t owner = kernel->parent;
        if (level == LEVEL_OP)
            owner = fall->levels[LEVEL_SHAPE].at[owner].parent;
        ok = !kernel->kernel[side] ||
             tally_add(&tally, owner, kernel->kernel[side], kernel->total_ns[side], err);
    }
    if (ok)
        tally_most(&tally, most, best);
    for (size_t i = 0; ok && i < own->count; i++)
        own->at[i].kernel[side] = most[i];
    tally_free(&tally);
    return ok;
}

// --- times per step -----------------------------------------------------------------------------

static bool share_children(struct fall_node *parent, const struct fall_level *below, int side,
                           int64_t *room, struct err *err)
{
    struct fall_node *children = below->at + parent->first;
    if (parent->count == 1)
        children[0].ns[side] = parent->ns[side];
    if (parent->count < 2)
        return true;
    for (uint32_t i = 0; i < parent->count; i++)
        room[i] = children[i].total_ns[side];
    if (!parts_share_out(parent->ns[side], room, room + parent->count, parent->count, err))
        return false;
    for (uint32_t i = 0; i < parent->count; i++)
        children[i].ns[side] = room[parent->count + i];
    return true;
}

static bool share_level(struct fall *fall, enum level level, int64_t *room, struct err *err)
{
    struct fall_level *own = &fall->levels[level];
    for (size_t i = 0; i < own->count; i++)
        for (int side = 0; side < SIDES; side++)
            if (!share_children(&own->at[i], &fall->levels[level + 1], side, room, err))
                return false;
    return true;
}

static bool share_out(struct fall *fall, struct err *err)
{
    const struct pair *pair = fall->pair;
    int64_t *room = arena_room(pair->scratch, 2 * fall->leaf_count + 2, sizeof *room, err);
    if (!room)
        return false;
    for (int side = 0; side < SIDES; side++)
        for (int b = 0; b < BAR_COUNT; b++)
            fall->levels[LEVEL_BAR].at[b].ns[side] = pair->sides[side]->bar_ns[b];
    for (int level = LEVEL_BAR; level < LEVEL_KERNEL; level++)
        if (!share_level(fall, (enum level)level, room, err))
            return false;
    return true;
}

static bool make_room(struct builder *builder, struct err *err)
{
    struct fall *fall = builder->fall;
    struct arena *scratch = fall->pair->scratch;
    size_t count = fall->leaf_count + BAR_COUNT;
    for (int level = 0; level < LEVEL_COUNT; level++) {
        fall->levels[level].at = arena_room(scratch, count, sizeof(struct fall_node), err);
        if (!fall->levels[level].at)
            return false;
    }
    builder->kernels = arena_room(scratch, count, sizeof *builder->kernels, err);
    for (int side = 0; side < SIDES; side++)
        builder->only[side] = arena_room(scratch, count, sizeof(struct kernel *), err);
    return builder->kernels && builder->only[BASE] && builder->only[CAND];
}

bool waterfall_build(struct fall *fall, struct err *err)
{
    struct builder builder = {.fall = fall};
    if (!make_room(&builder, err))
        return false;
    build_levels(&builder);
    add_up(fall);
    for (int side = 0; side < SIDES; side++)
        if (!name_kernels(fall, LEVEL_SHAPE, side, err) || !name_kernels(fall, LEVEL_OP, side, err))
            return false;
    return share_out(fall, err);
}
