// SPDX-License-Identifier: Apache-2.0
// Matches the parts of two sides and writes them level by level, each level an exact sum.
#include "analysis/compare/waterfall.h"

#include "analysis/report/tables.h"
#include "analysis/compare/waterfall_tree.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NS 0x1p60 // of an effect: a hostile trace may have any number of calls

struct waterfall_effects waterfall_split(const int64_t ns[SIDES], const double calls[SIDES])
{
    struct waterfall_effects effects = {.per_call_ns = ns[CAND] - ns[BASE]};
    if (calls[BASE] <= 0 && calls[CAND] <= 0)
        return effects;
    if (calls[BASE] <= 0 || calls[CAND] <= 0) {
        effects.calls_ns = effects.per_call_ns;
    } else {
        double effect_ns = (calls[CAND] / calls[BASE] - 1) * (double)ns[BASE];
        effects.calls_ns = llround(fmin(fmax(effect_ns, -MOST_NS), MOST_NS));
    }
    effects.per_call_ns -= effects.calls_ns;
    return effects;
}

static double per_step(const struct compare_pool *pool)
{
    return pool->weighed_steps ? compare_pool_factor(pool) / (double)pool->weighed_steps : 0;
}

static void count_matched(const struct fall *fall, double matched[RUNG_COUNT])
{
    memset(matched, 0, RUNG_COUNT * sizeof *matched);
    for (size_t i = 0; i < fall->leaf_count; i++) {
        const struct leaf *leaf = &fall->leaves[i];
        for (int side = 0; side < SIDES; side++)
            if (leaf->bar < BAR_DEVICE_COUNT)
                matched[leaf->rung] += (double)leaf->ns[side] * per_step(fall->pair->sides[side]);
    }
}

// --- order --------------------------------------------------------------------------------------

// The largest differences first.
static int compare_deltas(const void *a, const void *b)
{
    const struct fall_node *x = a, *y = b;
    int64_t dx = llabs(x->ns[CAND] - x->ns[BASE]), dy = llabs(y->ns[CAND] - y->ns[BASE]);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    dx = x->total_ns[BASE] + x->total_ns[CAND];
    dy = y->total_ns[BASE] + y->total_ns[CAND];
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first); // in build order
}

static void sort_children(struct fall *fall)
{
    for (int level = LEVEL_BAR; level < LEVEL_KERNEL; level++)
        for (size_t i = 0; i < fall->levels[level].count; i++) {
            const struct fall_node *node = &fall->levels[level].at[i];
            if (node->count > 1)
                qsort(fall->levels[level + 1].at + node->first, node->count, sizeof *node,
                      compare_deltas);
        }
}

// --- rows ---------------------------------------------------------------------------------------

// Rows are written into one block, and each text is copied once.
struct writer {
    const struct fall *fall;
    struct table table;
    struct str *copies; // per text, NULL if not copied yet
    int64_t id;         // of the last row
};

static bool begin_rows(struct writer *writer, const struct fall *fall, struct err *err)
{
    const struct pair *pair = fall->pair;
    const struct table *before = report_find(pair->report, table_compare_waterfall.name);
    size_t rows = 0;
    for (int level = 0; level < LEVEL_COUNT; level++)
        rows += fall->levels[level].count;
    *writer = (struct writer){.fall = fall,
                              .table = {.desc = &table_compare_waterfall, .row_cap = rows},
                              .id = before ? (int64_t)before->row_count : 0};
    size_t cells = rows * table_compare_waterfall.column_count;
    writer->table.cells = arena_room(pair->report->arena, cells, sizeof(struct cell), err);
    writer->copies = arena_array(pair->scratch, fall->texts.count + 1, sizeof(struct str), err);
    return writer->table.cells && writer->copies;
}

static bool add_text(struct writer *writer, struct row *row, unsigned column, str_id id,
                     struct err *err)
{
    struct str *copy = &writer->copies[id];
    if (id && !copy->at) {
        struct str text = strtab_get(&writer->fall->texts, id);
        const char *at = arena_strdup(writer->fall->pair->report->arena, text, err);
        if (!at)
            return false;
        *copy = (struct str){at, text.len};
    }
    row_text_if(row, column, id != 0, *copy);
    return true;
}

static bool add_names(struct writer *writer, struct row *row, const struct fall_node *node,
                      struct err *err)
{
    struct group_key shape = {0, 0};
    if (node->shape)
        shape = writer->fall->shapes.keys[node->shape - 1];
    return add_text(writer, row, COMPARE_WATERFALL_CATEGORY, node->category, err) &&
           add_text(writer, row, COMPARE_WATERFALL_OP, node->op, err) &&
           add_text(writer, row, COMPARE_WATERFALL_DIMS, (str_id)shape.a, err) &&
           add_text(writer, row, COMPARE_WATERFALL_TYPES, (str_id)shape.b, err) &&
           add_text(writer, row, COMPARE_WATERFALL_BASE_KERNEL, node->kernel[BASE], err) &&
           add_text(writer, row, COMPARE_WATERFALL_CAND_KERNEL, node->kernel[CAND], err);
}

static const char *match_word(const struct fall_node *node, enum level level)
{
    static const char *const words[RUNG_COUNT] = {"module", "shape",    "op",
                                                  "kernel", "category", "unmatched"};
    return level == LEVEL_BAR ? "bar" : level == LEVEL_CATEGORY ? "category" : words[node->rung];
}

static void add_times(struct row *row, const struct fall_node *node, const struct pair *pair)
{
    double calls[SIDES];
    for (int side = 0; side < SIDES; side++)
        calls[side] = (double)node->calls[side] * per_step(pair->sides[side]);
    struct waterfall_effects effects = waterfall_split(node->ns, calls);
    row_i64(row, COMPARE_WATERFALL_BASE_TOTAL_NS, node->total_ns[BASE]);
    row_i64(row, COMPARE_WATERFALL_CAND_TOTAL_NS, node->total_ns[CAND]);
    row_i64(row, COMPARE_WATERFALL_BASE_STEPS, pair->sides[BASE]->weighed_steps);
    row_i64(row, COMPARE_WATERFALL_CAND_STEPS, pair->sides[CAND]->weighed_steps);
    row_i64(row, COMPARE_WATERFALL_BASE_NS, node->ns[BASE]);
    row_i64(row, COMPARE_WATERFALL_CAND_NS, node->ns[CAND]);
    row_i64(row, COMPARE_WATERFALL_DELTA_NS, node->ns[CAND] - node->ns[BASE]);
    row_i64(row, COMPARE_WATERFALL_BASE_CALLS, node->calls[BASE]);
    row_i64(row, COMPARE_WATERFALL_CAND_CALLS, node->calls[CAND]);
    row_i64(row, COMPARE_WATERFALL_CALLS_EFFECT_NS, effects.calls_ns);
    row_i64(row, COMPARE_WATERFALL_PER_CALL_EFFECT_NS, effects.per_call_ns);
}

static bool add_row(struct writer *writer, const struct fall_node *node, enum level level,
                    int64_t parent, struct err *err)
{
    static const char *const words[LEVEL_COUNT] = {"bar", "category", "op", "shape", "kernel"};
    struct row row = {.desc = &table_compare_waterfall};
    row_i64(&row, COMPARE_WATERFALL_CAND, writer->fall->pair->number);
    row_i64(&row, COMPARE_WATERFALL_ID, ++writer->id);
    row_i64_if(&row, COMPARE_WATERFALL_PARENT, level != LEVEL_BAR, parent);
    row_word(&row, COMPARE_WATERFALL_LEVEL, words[level]);
    row_word(&row, COMPARE_WATERFALL_BAR, category_bar_word((enum bar)node->bar));
    if (!add_names(writer, &row, node, err))
        return false;
    row_word(&row, COMPARE_WATERFALL_MATCH, match_word(node, level));
    add_times(&row, node, writer->fall->pair);
    row_f64(&row, COMPARE_WATERFALL_P_VALUE, node->p_value);
    row_f64(&row, COMPARE_WATERFALL_Q_VALUE, node->q_value);
    row_word(&row, COMPARE_WATERFALL_VERDICT, verdict_word(node->verdict));
    row_bool(&row, COMPARE_WATERFALL_RELEVANT, node->relevant);
    row_put(&row, writer->table.cells + writer->table.row_count++ * row.desc->column_count);
    return true;
}

// Rows of one level still to be written, and their parent row.
struct cursor {
    uint32_t next, end;
    int64_t parent;
};

// Parents before their children.
static bool write_rows(struct writer *writer, struct err *err)
{
    const struct fall_level *levels = writer->fall->levels;
    struct cursor at[LEVEL_COUNT + 1] = {{0, (uint32_t)levels[LEVEL_BAR].count, 0}};
    for (int level = LEVEL_BAR; level >= LEVEL_BAR;) {
        if (at[level].next == at[level].end) {
            level--;
            continue;
        }
        const struct fall_node *node = &levels[level].at[at[level].next++];
        if (!add_row(writer, node, (enum level)level, at[level].parent, err))
            return false;
        if (level == LEVEL_KERNEL)
            continue;
        level++;
        at[level] = (struct cursor){node->first, node->first + node->count, writer->id};
    }
    return report_append(writer->fall->pair->report, &writer->table, err);
}

bool waterfall_write(const struct pair *pair, double matched[RUNG_COUNT], struct err *err)
{
    struct budget own = {.limit = 0};
    struct budget *budget = pair->report->arena->budget ? pair->report->arena->budget : &own;
    struct fall fall = {.pair = pair, .budget = budget};
    struct writer writer;
    if (!strtab_init(&fall.texts, budget, err))
        return false;
    groups_init(&fall.shapes, budget);
    groups_init(&fall.places, budget);
    groups_init(&fall.keys, budget);
    bool ok = waterfall_read(&fall, err) && waterfall_match(&fall, err) &&
              waterfall_build(&fall, err) && waterfall_judge(&fall, err);
    if (ok) {
        count_matched(&fall, matched);
        sort_children(&fall);
        ok = begin_rows(&writer, &fall, err) && write_rows(&writer, err);
    }
    groups_free(&fall.keys);
    groups_free(&fall.places);
    groups_free(&fall.shapes);
    strtab_free(&fall.texts);
    return ok;
}
