// SPDX-License-Identifier: Apache-2.0
// Gathers the parts of a difference: operators, all of attention, kinds of collectives, causes of
// idle time. What a new name replaces is one part.
#include "analysis/compare/reasons.h"
#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/names/category.h"
#include "analysis/report/tables.h"

#include <stdlib.h>

enum { LEAST_NS = 1000, ALIKE_TENTHS = 10, MOST_REPLACED = 64 };

// A shape with this share of its operator's difference stands for the operator.
#define SHAPE_SHARE 0.8

struct gathering {
    const struct pair *pair;
    const struct table *waterfall, *collectives;
    struct reason *at;
    size_t count;
};

static int64_t number(const struct table *table, size_t row, unsigned column)
{
    return table_i64(table, row, column, 0);
}

static bool is_level(const struct table *waterfall, size_t row, const char *level)
{
    return table_is(waterfall, row, COMPARE_WATERFALL_LEVEL, str_of(level));
}

static bool is_own(const struct gathering *all, size_t row)
{
    return number(all->waterfall, row, COMPARE_WATERFALL_CAND) == all->pair->number;
}

static bool is_bar(const struct gathering *all, size_t row, enum bar bar)
{
    return table_is(all->waterfall, row, COMPARE_WATERFALL_BAR, str_of(category_bar_word(bar)));
}

static bool is_no_work(const struct gathering *all, size_t row)
{
    return is_bar(all, row, BAR_IDLE_HOST_WAIT) || is_bar(all, row, BAR_IDLE_OTHER) ||
           is_bar(all, row, BAR_UNRECORDED);
}

// Where the rows below a row of this level end: rows come depth first.
static size_t end_below(const struct gathering *all, size_t row, const char *level)
{
    size_t end = row + 1;
    while (end < all->waterfall->row_count && is_own(all, end) &&
           !is_level(all->waterfall, end, level) && !is_level(all->waterfall, end, "bar") &&
           !is_level(all->waterfall, end, "category"))
        end++;
    return end;
}

static void add(struct gathering *all, struct reason reason)
{
    if (llabs(reason.ns[CAND] - reason.ns[BASE]) >= LEAST_NS)
        all->at[all->count++] = reason;
}

// --- device time --------------------------------------------------------------------------------

// The operator, else the kernel, else the category.
static struct str name_of(const struct table *waterfall, size_t row)
{
    static const unsigned columns[] = {COMPARE_WATERFALL_OP, COMPARE_WATERFALL_CAND_KERNEL,
                                       COMPARE_WATERFALL_BASE_KERNEL, COMPARE_WATERFALL_CATEGORY,
                                       COMPARE_WATERFALL_BAR};
    struct str name = STR("");
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !name.len; i++)
        name = table_text(waterfall, row, columns[i]);
    return name;
}

// The only shape that explains the operator's difference, if it has several.
static size_t find_shape(const struct gathering *all, const struct reason *reason)
{
    int64_t whole_ns = llabs(reason->ns[CAND] - reason->ns[BASE]);
    size_t found = REASON_NONE, shapes = 0;
    for (size_t row = reason->row + 1; row < reason->end; row++) {
        if (!is_level(all->waterfall, row, "shape"))
            continue;
        int64_t signed_ns = number(all->waterfall, row, COMPARE_WATERFALL_DELTA_NS);
        int64_t delta_ns = llabs(signed_ns);
        bool is_most = (signed_ns > 0) == (reason->ns[CAND] > reason->ns[BASE]) &&
                       (double)delta_ns >= SHAPE_SHARE * (double)whole_ns &&
                       (double)delta_ns * SHAPE_SHARE <= (double)whole_ns;
        if (is_most && table_text(all->waterfall, row, COMPARE_WATERFALL_DIMS).len)
            found = row;
        shapes++;
    }
    return shapes > 1 ? found : REASON_NONE;
}

static struct reason of_row(const struct gathering *all, size_t row, const char *level)
{
    struct reason reason = {.row = row,
                            .end = end_below(all, row, level),
                            .shape = REASON_NONE,
                            .joined = REASON_NONE,
                            .sizes = REASON_NONE};
    for (int side = 0; side < SIDES; side++)
        reason.ns[side] = number(all->waterfall, row, COMPARE_WATERFALL_BASE_NS + (unsigned)side);
    return reason;
}

static void add_operator(struct gathering *all, size_t row)
{
    struct reason reason = of_row(all, row, "op");
    bool idle = is_no_work(all, row);
    reason.kind = idle ? REASON_CAUSE : REASON_OPERATOR;
    reason.title = idle ? table_text(all->waterfall, row, COMPARE_WATERFALL_CATEGORY)
                        : name_of(all->waterfall, row);
    reason.shape = idle ? REASON_NONE : find_shape(all, &reason);
    if (reason.shape != REASON_NONE)
        reason.kind = REASON_SHAPE;
    add(all, reason);
}

// All of a category's operators together.
static void add_attention(struct gathering *all, size_t row)
{
    struct reason reason = of_row(all, row, "category");
    reason.kind = REASON_ATTENTION;
    reason.title = STR("attention");
    add(all, reason);
}

static void add_row(struct gathering *all, size_t row, bool has_collectives)
{
    if (is_bar(all, row, BAR_ATTENTION)) {
        if (is_level(all->waterfall, row, "category"))
            add_attention(all, row);
    } else if (is_level(all->waterfall, row, "op") &&
               !(has_collectives && is_bar(all, row, BAR_EXPOSED_COMM))) {
        add_operator(all, row);
    }
}

// --- collectives --------------------------------------------------------------------------------

static bool is_own_size(const struct gathering *all, size_t row)
{
    return number(all->collectives, row, COMPARE_COLLECTIVES_CAND) == all->pair->number;
}

// Whether there are collectives, all of a known kind: a recording without their parameters may know
// kernels only, which the waterfall matches by name.
static bool has_kinds(const struct gathering *all)
{
    bool any = false;
    for (size_t row = 0; all->collectives && row < all->collectives->row_count; row++) {
        if (!is_own_size(all, row))
            continue;
        if (!table_text(all->collectives, row, COMPARE_COLLECTIVES_KIND).len)
            return false;
        any = true;
    }
    return any;
}

static struct reason *find_kind(struct gathering *all, struct str kind)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].kind == REASON_COLLECTIVE && str_equal(all->at[i].title, kind))
            return &all->at[i];
    return NULL;
}

// Sums the sizes of each kind, of which there are few; rows come with the largest changes first.
static void add_collectives(struct gathering *all, size_t bar_row)
{
    for (size_t row = 0; row < all->collectives->row_count; row++) {
        if (!is_own_size(all, row))
            continue;
        struct str kind = table_text(all->collectives, row, COMPARE_COLLECTIVES_KIND);
        struct reason *reason = find_kind(all, kind);
        if (!reason) {
            reason = &all->at[all->count++];
            *reason = (struct reason){.kind = REASON_COLLECTIVE,
                                      .row = bar_row,
                                      .end = bar_row + 1,
                                      .shape = REASON_NONE,
                                      .joined = REASON_NONE,
                                      .sizes = row,
                                      .title = kind};
        }
        reason->size_count++;
        for (unsigned side = 0; side < SIDES; side++)
            reason->ns[side] +=
                number(all->collectives, row, COMPARE_COLLECTIVES_BASE_EXPOSED_NS + side);
    }
}

static size_t find_bar(const struct gathering *all, enum bar bar)
{
    for (size_t row = 0; row < all->waterfall->row_count; row++)
        if (is_own(all, row) && is_bar(all, row, bar))
            return row;
    return 0;
}

// --- graphs recorded as a whole ------------------------------------------------------------------

// All that may lie in a graph, the time between its kernels included, is one part; causes of other
// idle time are parts of their own.
static void add_hidden(struct gathering *all)
{
    struct reason work = of_row(all, find_bar(all, BAR_OTHER_COMPUTE), "bar");
    work.kind = REASON_WORK;
    work.title = STR("kernels and graphs");
    memset(work.ns, 0, sizeof work.ns);
    for (size_t row = 0; row < all->waterfall->row_count; row++) {
        if (!is_own(all, row) || !is_level(all->waterfall, row, "op"))
            continue;
        if (is_no_work(all, row) &&
            !table_is(all->waterfall, row, COMPARE_WATERFALL_CATEGORY, STR("graph_replay"))) {
            add_operator(all, row);
            continue;
        }
        for (unsigned side = 0; side < SIDES; side++)
            work.ns[side] += number(all->waterfall, row, COMPARE_WATERFALL_BASE_NS + side);
    }
    add(all, work);
}

// --- all together -------------------------------------------------------------------------------

static void add_all(struct gathering *all)
{
    bool has_collectives = has_kinds(all);
    if (has_collectives)
        add_collectives(all, find_bar(all, BAR_EXPOSED_COMM));
    for (size_t row = 0; row < all->waterfall->row_count; row++)
        if (is_own(all, row))
            add_row(all, row, has_collectives);
}

// 1 only in the candidate, -1 only in the base, 0 in both.
static int presence_of(const struct reason *reason)
{
    return (reason->ns[CAND] > 0 && reason->ns[BASE] == 0) -
           (reason->ns[BASE] > 0 && reason->ns[CAND] == 0);
}

static bool is_device_work(const struct reason *reason)
{
    return reason->kind == REASON_OPERATOR || reason->kind == REASON_SHAPE;
}

// The operation of its main kernel, as far as its name shows it.
static enum kernel_op operation_of(const struct gathering *all, const struct reason *reason,
                                   unsigned kernel)
{
    struct kernel_decoded decoded;
    kernel_decode(table_text(all->waterfall, reason->row, kernel), &decoded);
    return decoded.op;
}

// Whether it can do the work of what is gone. Categories differ: within one the waterfall matches.
static bool does_the_same(const struct gathering *all, const struct reason *gone,
                          const struct reason *one)
{
    struct str bar = table_text(all->waterfall, gone->row, COMPARE_WATERFALL_BAR);
    if (!str_equal(table_text(all->waterfall, one->row, COMPARE_WATERFALL_BAR), bar))
        return false;
    enum kernel_op op = operation_of(all, gone, COMPARE_WATERFALL_BASE_KERNEL);
    return op && op == operation_of(all, one, COMPARE_WATERFALL_CAND_KERNEL);
}

// The new part of the same bar and operation with the time closest to one that is gone;
// NULL if none.
static struct reason *find_successor(struct gathering *all, const struct reason *gone)
{
    struct reason *found = NULL;
    int64_t nearest_ns = gone->ns[BASE] / ALIKE_TENTHS;
    for (size_t i = 0; i < all->count; i++) {
        struct reason *one = &all->at[i];
        int64_t apart_ns = llabs(one->ns[CAND] - gone->ns[BASE]);
        if (is_device_work(one) && presence_of(one) > 0 && apart_ns <= nearest_ns &&
            does_the_same(all, gone, one)) {
            nearest_ns = apart_ns;
            found = one;
        }
    }
    return found;
}

static void join_replaced(struct gathering *all)
{
    size_t tried = 0;
    for (size_t i = 0; i < all->count && tried < MOST_REPLACED; i++) {
        struct reason *gone = &all->at[i];
        bool is_gone = is_device_work(gone) && presence_of(gone) < 0;
        struct reason *successor = is_gone ? find_successor(all, gone) : NULL;
        tried += is_gone;
        if (!successor)
            continue;
        gone->joined = successor->row;
        gone->ns[CAND] = successor->ns[CAND];
        successor->ns[CAND] = 0;
    }
}

static int64_t delta_of(const struct reason *reason)
{
    return reason->ns[CAND] - reason->ns[BASE];
}

static int compare_reasons(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    int64_t dx = delta_of(x), dy = delta_of(y);
    if ((dx > 0) != (dy > 0))
        return dx > 0 ? 1 : -1;
    if (dx != dy)
        return llabs(dx) > llabs(dy) ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void keep_changes(struct gathering *all, struct reasons *reasons)
{
    *reasons = (struct reasons){.at = all->at};
    for (size_t i = 0; i < all->count; i++) {
        int64_t delta_ns = delta_of(&all->at[i]);
        *(delta_ns > 0 ? &reasons->losses_ns : &reasons->gains_ns) += delta_ns;
        if (llabs(delta_ns) >= LEAST_NS)
            reasons->at[reasons->count++] = all->at[i];
    }
    if (reasons->count)
        qsort(reasons->at, reasons->count, sizeof *reasons->at, compare_reasons);
}

bool reasons_gather(const struct pair *pair, struct reasons *reasons, struct err *err)
{
    struct gathering all = {.pair = pair,
                            .waterfall = report_find(pair->report, table_compare_waterfall.name),
                            .collectives =
                                report_find(pair->report, table_compare_collectives.name)};
    *reasons = (struct reasons){.at = NULL};
    if (!all.waterfall)
        return true;
    size_t room = all.waterfall->row_count + (all.collectives ? all.collectives->row_count : 0);
    all.at = arena_array(pair->scratch, room + 1, sizeof *all.at, err);
    if (!all.at)
        return false;
    if (pair_hides_kernels(pair))
        add_hidden(&all);
    else
        add_all(&all);
    if (all.count)
        qsort(all.at, all.count, sizeof *all.at, compare_reasons); // the largest first
    join_replaced(&all);
    keep_changes(&all, reasons);
    return true;
}
