// SPDX-License-Identifier: Apache-2.0
// Matches the parts of two runs by operator, then kernel, then category, and writes them level by
// level with per-step figures that sum exactly.
#include "analysis/waterfall.h"

#include "analysis/sort.h"
#include "analysis/tables.h"
#include "ingest/trace/strtab.h"

#include <math.h>
#include <stdlib.h>

enum { BASE, CAND, SIDES };

#define MOST_NS 0x1p61 // of an effect: a hostile trace has any number of calls

// What one line of the waterfall says, for both sides.
struct item {
    enum bar bar;
    str_id category, op; // 0: none
    str_id key;          // what rows are matched by
    const char *match;
    str_id kernel[SIDES];   // the one with most of its time
    int64_t most_ns[SIDES]; // that time
    int64_t total_ns[SIDES], calls[SIDES], ns[SIDES];
    bool has[SIDES];
};

struct waterfall {
    const struct waterfall_side *sides;
    struct report *report;
    struct strtab texts;
    struct item *items; // by bar and category from match_all on
    size_t count, cap;
    double matched, all; // device time per step
};

static const struct cell *cell_of(const struct table *table, size_t row, const char *column)
{
    return table_cell(table, row, column);
}

static bool intern(struct waterfall *fall, const struct cell *cell, str_id *id, struct err *err)
{
    *id = 0;
    if (cell->null)
        return true;
    struct str text = cell->s;
    text.len = text.len > STRTAB_MAX_LEN ? STRTAB_MAX_LEN : text.len;
    return strtab_intern(&fall->texts, text, id, err);
}

static enum bar bar_of(struct str word)
{
    int b = 0;
    while (b < BAR_IDLE_OTHER && !str_equal(word, str_of(category_bar_word((enum bar)b))))
        b++;
    return (enum bar)b;
}

// The row's text key: by operator, else by the kernel's name.
static bool make_key(struct waterfall *fall, struct item *item, const struct cell *kernel,
                     struct err *err)
{
    const struct str name = item->op       ? strtab_get(&fall->texts, item->op)
                            : kernel->null ? STR("")
                                           : kernel->s;
    struct buf key = {0};
    buf_printf(&key, "%d %u %c ", (int)item->bar, item->category, item->op ? 'o' : 'k');
    buf_add_str(&key, name);
    if (key.len > STRTAB_MAX_LEN)
        key.len = STRTAB_MAX_LEN;
    bool ok = buf_ok(&key, err) &&
              strtab_intern(&fall->texts, (struct str){key.at, key.len}, &item->key, err);
    buf_free(&key);
    return ok;
}

static bool read_row(struct waterfall *fall, int side, size_t row, struct err *err)
{
    const struct table *table = fall->sides[side].parts;
    const struct cell *kernel = cell_of(table, row, "kernel");
    struct item item = {.bar = bar_of(cell_of(table, row, "bar")->s)};
    if (!intern(fall, cell_of(table, row, "category"), &item.category, err) ||
        !intern(fall, cell_of(table, row, "op"), &item.op, err) ||
        !intern(fall, kernel, &item.kernel[side], err) || !make_key(fall, &item, kernel, err))
        return false;
    item.has[side] = true;
    item.total_ns[side] = item.most_ns[side] = cell_of(table, row, "owned_ns")->i;
    item.calls[side] = cell_of(table, row, "calls")->i;
    fall->items[fall->count++] = item;
    return true;
}

static bool read_sides(struct waterfall *fall, struct err *err)
{
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; fall->sides[side].parts && i < fall->sides[side].parts->row_count; i++)
            if (!read_row(fall, side, i, err))
                return false;
    return true;
}

static void join(struct item *into, const struct item *from)
{
    for (int side = 0; side < SIDES; side++) {
        if (!from->has[side])
            continue;
        if (!into->has[side] || from->most_ns[side] > into->most_ns[side]) {
            into->most_ns[side] = from->most_ns[side];
            into->kernel[side] = from->kernel[side];
        }
        into->has[side] = true;
        into->total_ns[side] += from->total_ns[side];
        into->calls[side] += from->calls[side];
    }
}

static int compare_groups(const struct item *x, const struct item *y)
{
    if (x->bar != y->bar)
        return x->bar < y->bar ? -1 : 1;
    return (x->category > y->category) - (x->category < y->category);
}

static int compare_keys(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = compare_groups(x, y);
    return order ? order : (x->key > y->key) - (x->key < y->key);
}

static void sort_items(struct item *items, size_t count, int (*compare)(const void *, const void *))
{
    if (count)
        qsort(items, count, sizeof *items, compare);
}

// Joins items of equal keys, in place; returns how many are left.
static size_t join_equal(struct item *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_keys(&items[kept - 1], &items[i]) == 0)
            join(&items[kept - 1], &items[i]);
        else
            items[kept++] = items[i];
    }
    return kept;
}

static size_t end_of_group(const struct item *items, size_t count)
{
    size_t end = 0;
    while (end < count && compare_groups(&items[end], &items[0]) == 0)
        end++;
    return end;
}

static const char *rung_of(const struct item *item, bool both)
{
    if (!both)
        return "unmatched";
    if (item->bar >= BAR_IDLE_HOST_WAIT)
        return "category"; // idle time has neither operator nor kernel
    return item->op ? "op" : "kernel";
}

// Names the rung of each row of one category. What only one side has is joined into one row when
// both sides have such rows, and stays unmatched otherwise. Returns how many rows are left.
static size_t match_group(struct item *items, size_t count)
{
    bool left[SIDES] = {false, false};
    for (size_t i = 0; i < count; i++) {
        bool both = items[i].has[BASE] && items[i].has[CAND];
        items[i].match = rung_of(&items[i], both);
        left[BASE] |= !both && items[i].has[BASE];
        left[CAND] |= !both && items[i].has[CAND];
    }
    if (!left[BASE] || !left[CAND])
        return count;
    struct item rest = {.bar = items[0].bar, .category = items[0].category, .match = "category"};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].has[BASE] && items[i].has[CAND])
            items[kept++] = items[i];
        else
            join(&rest, &items[i]);
    }
    items[kept++] = rest;
    return kept;
}

static void match_all(struct waterfall *fall)
{
    sort_items(fall->items, fall->count, compare_keys);
    size_t count = join_equal(fall->items, fall->count), kept = 0;
    for (size_t from = 0; from < count;) {
        size_t end = end_of_group(fall->items + from, count - from);
        size_t rows = match_group(fall->items + from, end);
        memmove(fall->items + kept, fall->items + from, rows * sizeof *fall->items);
        kept += rows;
        from += end;
    }
    fall->count = kept;
}

struct waterfall_effects waterfall_split(const int64_t ns[2], const int64_t calls[2],
                                         const int64_t steps[2])
{
    struct waterfall_effects effects = {.per_call_ns = ns[CAND] - ns[BASE]};
    if (calls[BASE] == 0 && calls[CAND] == 0)
        return effects;
    if (calls[BASE] == 0 || calls[CAND] == 0) {
        effects.calls_ns = effects.per_call_ns;
    } else if (steps[BASE] && steps[CAND]) {
        double base = (double)calls[BASE] / (double)steps[BASE];
        double cand = (double)calls[CAND] / (double)steps[CAND];
        double effect_ns = (cand / base - 1) * (double)ns[BASE];
        effects.calls_ns = llround(fmin(fmax(effect_ns, -MOST_NS), MOST_NS));
    }
    effects.per_call_ns -= effects.calls_ns;
    return effects;
}

static void add_text(struct row *row, const struct waterfall *fall, str_id id)
{
    row_text_if(row, id != 0, strtab_get(&fall->texts, id));
}

static bool write_item(struct waterfall *fall, const char *level, const struct item *item,
                       struct err *err)
{
    int64_t steps[SIDES] = {fall->sides[BASE].steps, fall->sides[CAND].steps};
    struct waterfall_effects effects = waterfall_split(item->ns, item->calls, steps);
    struct row row = {0};
    row_i64(&row, 1);
    row_null(&row);
    row_null(&row);
    row_word(&row, level);
    row_word(&row, category_bar_word(item->bar));
    add_text(&row, fall, item->category);
    add_text(&row, fall, item->op);
    row_null(&row);
    row_null(&row);
    add_text(&row, fall, item->kernel[BASE]);
    add_text(&row, fall, item->kernel[CAND]);
    row_word(&row, item->match);
    row_i64(&row, item->total_ns[BASE]);
    row_i64(&row, item->total_ns[CAND]);
    row_i64(&row, steps[BASE]);
    row_i64(&row, steps[CAND]);
    row_i64(&row, item->ns[BASE]);
    row_i64(&row, item->ns[CAND]);
    row_i64(&row, item->ns[CAND] - item->ns[BASE]);
    row_i64(&row, item->calls[BASE]);
    row_i64(&row, item->calls[CAND]);
    row_i64(&row, effects.calls_ns);
    row_i64(&row, effects.per_call_ns);
    while (row.count < table_compare_waterfall.column_count)
        row_null(&row);
    return row_end(&row, &table_compare_waterfall, fall->report, err);
}

// Shares the parent's time per step out over its children, on both sides.
static bool share_out(const int64_t ns[SIDES], struct item *items, size_t count, struct err *err)
{
    int64_t *weights = calloc(2 * count + 1, sizeof *weights);
    if (!weights)
        return err_set(err, ERR_LIMIT, "out of memory for %zu rows", count);
    bool ok = true;
    for (int side = 0; ok && side < SIDES; side++) {
        for (size_t i = 0; i < count; i++)
            weights[i] = items[i].total_ns[side];
        ok = parts_share_out(ns[side], weights, weights + count, count, err);
        for (size_t i = 0; i < count; i++)
            items[i].ns[side] = weights[count + i];
    }
    free(weights);
    return ok;
}

// The largest differences first.
static int compare_deltas(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int64_t dx = llabs(x->ns[CAND] - x->ns[BASE]), dy = llabs(y->ns[CAND] - y->ns[BASE]);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static void count_matched(struct waterfall *fall, const struct item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double ns = (double)items[i].ns[BASE] + (double)items[i].ns[CAND];
        if (items[i].bar >= BAR_IDLE_HOST_WAIT)
            continue;
        fall->all += ns;
        if (items[i].has[BASE] && items[i].has[CAND] && strcmp(items[i].match, "category") != 0)
            fall->matched += ns;
    }
}

static bool write_rows(struct waterfall *fall, const struct item *category, struct item *rows,
                       size_t count, struct err *err)
{
    if (!write_item(fall, "category", category, err) || !share_out(category->ns, rows, count, err))
        return false;
    sort_items(rows, count, compare_deltas);
    count_matched(fall, rows, count);
    for (size_t i = 0; i < count; i++)
        if (!write_item(fall, "row", &rows[i], err))
            return false;
    return true;
}

// One line for all rows of a category.
static struct item sum_up(const struct item *rows, size_t count)
{
    struct item sum = {.bar = rows[0].bar, .category = rows[0].category, .match = "category"};
    for (size_t i = 0; i < count; i++)
        join(&sum, &rows[i]);
    sum.kernel[BASE] = sum.kernel[CAND] = 0;
    return sum;
}

// The bar's rows lie at items[0 .. count - 1], category by category.
static bool write_bar(struct waterfall *fall, struct item *bar, struct item *items, size_t count,
                      struct err *err)
{
    struct item *categories = calloc(count + 1, sizeof *categories);
    if (!categories)
        return err_set(err, ERR_LIMIT, "out of memory for %zu rows", count);
    size_t found = 0;
    for (size_t from = 0, end; from < count; from += end) {
        end = end_of_group(items + from, count - from);
        categories[found] = sum_up(items + from, end);
        join(bar, &categories[found++]);
    }
    bar->kernel[BASE] = bar->kernel[CAND] = 0;
    bool ok = write_item(fall, "bar", bar, err) && share_out(bar->ns, categories, found, err);
    for (size_t c = 0, from = 0; ok && c < found; c++) {
        size_t rows = end_of_group(items + from, count - from);
        ok = write_rows(fall, &categories[c], items + from, rows, err);
        from += rows;
    }
    free(categories);
    return ok;
}

static bool write_all(struct waterfall *fall, struct err *err)
{
    struct parts means[SIDES] = {{.total_comm_ns = 0}, {.total_comm_ns = 0}};
    for (int side = 0; side < SIDES; side++)
        if (fall->sides[side].steps)
            means[side] = parts_per_step(&fall->sides[side].total, fall->sides[side].steps);
    size_t from = 0;
    for (int b = 0; b < BAR_COUNT; b++) {
        struct item bar = {.bar = (enum bar)b, .match = "bar"};
        size_t end = from;
        while (end < fall->count && fall->items[end].bar == bar.bar)
            end++;
        for (int side = 0; side < SIDES; side++)
            bar.ns[side] = means[side].bar_ns[b];
        if (!write_bar(fall, &bar, fall->items + from, end - from, err))
            return false;
        from = end;
    }
    return true;
}

bool waterfall_write(const struct waterfall_side sides[2], struct report *report,
                     double *matched_share, struct err *err)
{
    struct budget budget = {0};
    struct waterfall fall = {.sides = sides, .report = report};
    for (int side = 0; side < SIDES; side++)
        fall.cap += sides[side].parts ? sides[side].parts->row_count : 0;
    if (!strtab_init(&fall.texts, &budget, err))
        return false;
    fall.items = calloc(fall.cap + 1, sizeof *fall.items);
    bool ok = fall.items || err_set(err, ERR_LIMIT, "out of memory for %zu rows", fall.cap);
    ok = ok && read_sides(&fall, err);
    if (ok) {
        match_all(&fall);
        ok = write_all(&fall, err);
    }
    *matched_share = fall.all > 0 ? fall.matched / fall.all : 0;
    free(fall.items);
    strtab_free(&fall.texts);
    return ok;
}
