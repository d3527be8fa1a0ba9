// SPDX-License-Identifier: Apache-2.0
// The matching ladder: within a bar and category by operator, shapes and module, then by kernel,
// then only by category.
#include "analysis/compare/waterfall_tree.h"
#include "analysis/kernel_names/kernel_decoded.h"

#include <stdlib.h>

// Kinds of keys: what the leaves of a row have in common.
enum key_kind { KEY_NONE, KEY_OP, KEY_SHAPE, KEY_KERNEL, KEY_COPY, KEY_REST };

static uint64_t key_of(enum key_kind kind, uint32_t id)
{
    return (uint64_t)kind << 32 | id;
}

static int order_of(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

static int compare_groups(const struct leaf *x, const struct leaf *y)
{
    int order = order_of(x->bar, y->bar);
    return order ? order : order_of(x->category, y->category);
}

static int compare_names(const void *a, const void *b)
{
    const struct leaf *x = *(struct leaf *const *)a, *y = *(struct leaf *const *)b;
    int order = compare_groups(x, y);
    order = order ? order : order_of(x->op, y->op);
    order = order ? order : order_of(x->shape, y->shape);
    order = order ? order : order_of(x->module, y->module);
    return order ? order : order_of(x->kernel, y->kernel);
}

static int compare_kernels(const void *a, const void *b)
{
    const struct leaf *x = *(struct leaf *const *)a, *y = *(struct leaf *const *)b;
    int order = compare_groups(x, y);
    order = order ? order : order_of(x->kernel_key, y->kernel_key);
    return order ? order : compare_names(a, b);
}

static int compare_keys(const void *a, const void *b)
{
    const struct leaf *x = *(struct leaf *const *)a, *y = *(struct leaf *const *)b;
    int order = compare_groups(x, y);
    order = order ? order : order_of(x->op_key, y->op_key);
    order = order ? order : order_of(x->shape_key, y->shape_key);
    order = order ? order : order_of(x->kernel, y->kernel);
    return order ? order : compare_names(a, b);
}

// Adjacent leaves.
struct span {
    struct leaf **at;
    size_t count;
};

typedef bool likeness(const struct leaf *, const struct leaf *);

static bool same_group(const struct leaf *x, const struct leaf *y)
{
    return compare_groups(x, y) == 0;
}

static bool same_op(const struct leaf *x, const struct leaf *y)
{
    return same_group(x, y) && x->op == y->op;
}

static bool same_shape(const struct leaf *x, const struct leaf *y)
{
    return same_op(x, y) && x->shape == y->shape;
}

static bool same_module(const struct leaf *x, const struct leaf *y)
{
    return same_shape(x, y) && x->module == y->module;
}

static bool same_kernel(const struct leaf *x, const struct leaf *y)
{
    return same_group(x, y) && x->kernel_key == y->kernel_key;
}

// Takes equal leaves from the start of `rest`; false if nothing is left.
static bool take(struct span *rest, likeness *alike, struct span *taken)
{
    *taken = (struct span){rest->at, 0};
    while (taken->count < rest->count && alike(rest->at[0], rest->at[taken->count]))
        taken->count++;
    rest->at += taken->count;
    rest->count -= taken->count;
    return taken->count > 0;
}

static bool on_both_sides(struct span span)
{
    bool has[SIDES] = {false, false};
    for (size_t i = 0; i < span.count; i++) {
        has[BASE] |= span.at[i]->has[BASE];
        has[CAND] |= span.at[i]->has[CAND];
    }
    return has[BASE] && has[CAND];
}

static void set_rung(struct span span, enum rung rung)
{
    for (size_t i = 0; i < span.count; i++)
        span.at[i]->rung = rung;
}

// --- by operator --------------------------------------------------------------------------------

static void match_modules(struct span shape)
{
    struct span module;
    while (take(&shape, same_module, &module)) {
        bool matched = module.at[0]->module && on_both_sides(module);
        set_rung(module, matched ? RUNG_MODULE : RUNG_SHAPE);
    }
}

// Whether both sides have leaves of the operator that matched no shape.
static bool has_rests(struct span op)
{
    bool has[SIDES] = {false, false};
    for (size_t i = 0; i < op.count; i++) {
        bool rest = op.at[i]->rung == RUNG_OP;
        has[BASE] |= rest && op.at[i]->has[BASE];
        has[CAND] |= rest && op.at[i]->has[CAND];
    }
    return has[BASE] && has[CAND];
}

static void match_shapes(struct span op)
{
    struct span rest = op, shape;
    while (take(&rest, same_shape, &shape)) {
        if (shape.at[0]->shape && on_both_sides(shape))
            match_modules(shape);
        else
            set_rung(shape, RUNG_OP);
    }
    bool joined = has_rests(op);
    for (size_t i = 0; i < op.count; i++) {
        struct leaf *leaf = op.at[i];
        bool alone = leaf->rung == RUNG_OP && joined;
        leaf->op_key = key_of(KEY_OP, leaf->op);
        leaf->shape_key = alone ? key_of(KEY_REST, 0) : key_of(KEY_SHAPE, leaf->shape);
    }
}

// --- without an operator in common --------------------------------------------------------------

// Every profiler names copies in its own way: "Memcpy HtoD (Pinned -> Device)", "CopyHostToDevice".
static uint64_t kernel_key_of(const struct fall *fall, const struct leaf *leaf)
{
    struct kernel_decoded decoded;
    kernel_decode(strtab_get(&fall->texts, leaf->kernel), &decoded);
    bool copy = decoded.op >= OP_memcpy_h2d && decoded.op <= OP_memcpy_h2h;
    return copy ? key_of(KEY_COPY, decoded.op) : key_of(KEY_KERNEL, leaf->kernel);
}

static void join_kernel(struct span kernel)
{
    for (size_t i = 0; i < kernel.count; i++) {
        kernel.at[i]->rung = RUNG_KERNEL;
        kernel.at[i]->op_key = kernel.at[i]->kernel_key;
        kernel.at[i]->shape_key = key_of(KEY_NONE, 0);
    }
}

// One row for everything left of a category on both sides, with its operators below.
static void join_rest(struct leaf *leaf)
{
    leaf->rung = RUNG_CATEGORY;
    leaf->op_key = key_of(KEY_REST, 0);
    leaf->shape_key = leaf->op ? key_of(KEY_OP, leaf->op) : key_of(KEY_KERNEL, leaf->kernel);
}

static void keep_apart(struct leaf *leaf)
{
    leaf->op_key = leaf->op ? key_of(KEY_OP, leaf->op) : key_of(KEY_KERNEL, leaf->kernel);
    leaf->shape_key = leaf->op ? key_of(KEY_SHAPE, leaf->shape) : key_of(KEY_NONE, 0);
}

static void match_group(struct span group)
{
    struct span rest = group, kernel;
    size_t left = 0;
    while (take(&rest, same_kernel, &kernel)) {
        if (kernel.at[0]->kernel && on_both_sides(kernel)) {
            join_kernel(kernel);
            continue;
        }
        memmove(group.at + left, kernel.at, kernel.count * sizeof *kernel.at);
        left += kernel.count;
    }
    group.count = left;
    bool both = on_both_sides(group);
    for (size_t i = 0; i < group.count; i++) {
        if (both)
            join_rest(group.at[i]);
        else
            keep_apart(group.at[i]);
    }
}

static void match_rests(const struct fall *fall, struct span leaves)
{
    struct span group;
    for (size_t i = 0; i < leaves.count; i++)
        leaves.at[i]->kernel_key = kernel_key_of(fall, leaves.at[i]);
    qsort(leaves.at, leaves.count, sizeof *leaves.at, compare_kernels);
    while (take(&leaves, same_group, &group))
        match_group(group);
}

static void fill_order(struct fall *fall)
{
    for (size_t i = 0; i < fall->leaf_count; i++)
        fall->order[i] = &fall->leaves[i];
}

bool waterfall_match(struct fall *fall, struct err *err)
{
    size_t count = fall->leaf_count, left = 0;
    fall->order = arena_array(fall->pair->scratch, count + 1, sizeof(struct leaf *), err);
    if (!fall->order)
        return false;
    fill_order(fall);
    qsort(fall->order, count, sizeof *fall->order, compare_names);
    struct span rest = {fall->order, count}, op;
    while (take(&rest, same_op, &op)) {
        if (op.at[0]->op && on_both_sides(op)) {
            match_shapes(op);
            continue;
        }
        memmove(fall->order + left, op.at, op.count * sizeof *op.at);
        left += op.count;
    }
    match_rests(fall, (struct span){fall->order, left});
    fill_order(fall);
    qsort(fall->order, count, sizeof *fall->order, compare_keys);
    return true;
}
