// SPDX-License-Identifier: Apache-2.0
// Groups the parts of a difference under names that people know.
#include "server/compare/contributors.h"

#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_NS = 1000, NAME_MAX_BYTES = 72, MOVED_TENTHS = 10 };

struct gathered {
    const struct compared_pair *pair;
    struct arena *arena;
    struct contributor *at;
    size_t count, room;
};

const char *contributors_clean(struct str text, size_t max, struct arena *arena)
{
    struct str shown = {text.at, text.len < max ? text.len : max - 3};
    char *clean = arena_alloc(arena, shown.len + 4, NULL);
    size_t len = 0;
    while (clean && len < shown.len) {
        size_t valid = str_valid_utf8((struct str){shown.at + len, shown.len - len});
        for (size_t end = len + valid; len < end; len++) {
            unsigned char c = (unsigned char)shown.at[len];
            clean[len] = c < ' ' || c == 0x7f ? '?' : shown.at[len];
        }
        if (len < shown.len)
            clean[len++] = '?';
    }
    if (clean && shown.len < text.len)
        memcpy(clean + shown.len, "...", 3);
    return clean ? clean : "?";
}

static void add(struct gathered *gathered, struct contributor one)
{
    if (gathered->count < gathered->room && llabs(one.delta_ns) >= LEAST_NS)
        gathered->at[gathered->count++] = one;
}

// --- device work --------------------------------------------------------------------------------

static bool is_cand(const struct gathered *gathered, const struct table *table, size_t row)
{
    return table_cell(table, row, table_first(table->desc) + CANDIDATE_CAND)->i ==
           gathered->pair->cand;
}

static bool is_idle(const struct table *table, size_t row)
{
    const struct cell *bar = table_cell(table, row, COMPARE_WATERFALL_BAR);
    return !bar->null && str_starts_with(bar->s, STR("idle_"));
}

// The operator, else the kernel, else the category.
static struct str name_of(const struct table *table, size_t row)
{
    static const unsigned columns[] = {COMPARE_WATERFALL_OP, COMPARE_WATERFALL_CAND_KERNEL,
                                       COMPARE_WATERFALL_BASE_KERNEL, COMPARE_WATERFALL_CATEGORY,
                                       COMPARE_WATERFALL_BAR};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const struct cell *cell = table_cell(table, row, columns[i]);
        if (!cell->null && cell->s.len)
            return cell->s;
    }
    return STR("?");
}

// "idle by data loading": its category is the stable word of a cause.
static const char *idle_name(const char *cause, struct arena *arena)
{
    char *name = arena_printf(arena, NULL, "idle by %s", cause);
    for (char *c = name; c && *c; c++)
        if (*c == '_')
            *c = ' ';
    return name ? name : cause;
}

static const char *row_name(const struct gathered *gathered, const struct table *waterfall,
                            size_t row)
{
    const char *clean =
        contributors_clean(name_of(waterfall, row), NAME_MAX_BYTES, gathered->arena);
    return is_idle(waterfall, row) ? idle_name(clean, gathered->arena) : clean;
}

static int presence_of(const struct table *waterfall, size_t row)
{
    int64_t base_ns = table_cell(waterfall, row, COMPARE_WATERFALL_BASE_NS)->i;
    int64_t cand_ns = table_cell(waterfall, row, COMPARE_WATERFALL_CAND_NS)->i;
    return (cand_ns > 0 && base_ns == 0) - (base_ns > 0 && cand_ns == 0);
}

static void add_rows(struct gathered *gathered, const struct table *waterfall, bool has_collectives)
{
    for (size_t row = 0; waterfall && row < waterfall->row_count; row++) {
        if (!is_cand(gathered, waterfall, row) ||
            !table_is(waterfall, row, COMPARE_WATERFALL_LEVEL, STR("op")))
            continue;
        if (has_collectives && table_is(waterfall, row, COMPARE_WATERFALL_BAR, STR("exposed_comm")))
            continue;
        add(gathered,
            (struct contributor){row_name(gathered, waterfall, row),
                                 table_cell(waterfall, row, COMPARE_WATERFALL_DELTA_NS)->i,
                                 table_cell(waterfall, row, COMPARE_WATERFALL_BAR)->s,
                                 presence_of(waterfall, row)});
    }
}

// --- collectives --------------------------------------------------------------------------------

static int64_t exposed_delta(const struct table *collectives, size_t row)
{
    const struct cell *delta = table_cell(collectives, row, COMPARE_COLLECTIVES_DELTA_EXPOSED_NS);
    return delta->null ? 0 : delta->i;
}

static bool is_first_of_kind(const struct gathered *gathered, const struct table *collectives,
                             size_t row)
{
    struct str kind = table_cell(collectives, row, COMPARE_COLLECTIVES_KIND)->s;
    for (size_t i = 0; i < row; i++)
        if (is_cand(gathered, collectives, i) &&
            str_equal(table_cell(collectives, i, COMPARE_COLLECTIVES_KIND)->s, kind))
            return false;
    return true;
}

// Whether there are collectives, all of a known kind. A recording without their parameters may know
// kernels only, which the waterfall matches by name.
static bool has_kinds(const struct gathered *gathered, const struct table *collectives)
{
    bool any = false;
    for (size_t row = 0; collectives && row < collectives->row_count; row++) {
        if (!is_cand(gathered, collectives, row))
            continue;
        if (!table_cell(collectives, row, COMPARE_COLLECTIVES_KIND)->s.len)
            return false;
        any = true;
    }
    return any;
}

// Sums collectives by kind. Returns whether it did.
static bool add_collectives(struct gathered *gathered, const struct table *collectives)
{
    if (!has_kinds(gathered, collectives))
        return false;
    for (size_t row = 0; row < collectives->row_count; row++) {
        if (!is_cand(gathered, collectives, row) || !is_first_of_kind(gathered, collectives, row))
            continue;
        struct str kind = table_cell(collectives, row, COMPARE_COLLECTIVES_KIND)->s;
        int64_t delta_ns = 0;
        for (size_t i = row; i < collectives->row_count; i++)
            if (is_cand(gathered, collectives, i) &&
                str_equal(table_cell(collectives, i, COMPARE_COLLECTIVES_KIND)->s, kind))
                delta_ns += exposed_delta(collectives, i);
        const char *clean = contributors_clean(kind, NAME_MAX_BYTES, gathered->arena);
        const char *name = arena_printf(gathered->arena, NULL, "exposed %s", clean);
        add(gathered, (struct contributor){name ? name : clean, delta_ns, STR(""), 0});
    }
    return true;
}

// --- all together -------------------------------------------------------------------------------

int64_t contributors_summary_row(const struct compared_pair *pair, const struct table **summary)
{
    *summary = report_find(pair->report, table_compare_summary.name);
    for (size_t row = 0; *summary && row < (*summary)->row_count; row++)
        if (table_cell(*summary, row, COMPARE_SUMMARY_CAND)->i == pair->cand)
            return (int64_t)row;
    return -1;
}

static int by_size(const void *left, const void *right)
{
    const struct contributor *a = left, *b = right;
    int64_t x = llabs(a->delta_ns), y = llabs(b->delta_ns);
    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

// The new part of the same bar with the time closest to a part that is gone; NULL if none.
static struct contributor *find_successor(struct gathered *gathered, const struct contributor *gone)
{
    struct contributor *found = NULL;
    int64_t nearest = llabs(gone->delta_ns) / MOVED_TENTHS;
    for (size_t i = 0; i < gathered->count; i++) {
        struct contributor *one = &gathered->at[i];
        int64_t apart = llabs(one->delta_ns + gone->delta_ns);
        if (one->presence > 0 && str_equal(one->bar, gone->bar) && apart <= nearest) {
            nearest = apart;
            found = one;
        }
    }
    return found;
}

static void join_moved(struct gathered *gathered)
{
    for (size_t i = 0; i < gathered->count; i++) {
        struct contributor *gone = &gathered->at[i];
        struct contributor *successor = gone->presence < 0 ? find_successor(gathered, gone) : NULL;
        if (!successor)
            continue;
        const char *name =
            arena_printf(gathered->arena, NULL, "%s, now %s,", gone->name, successor->name);
        gone->name = name ? name : gone->name;
        gone->delta_ns += successor->delta_ns;
        gone->presence = successor->presence = 0;
        successor->delta_ns = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < gathered->count; i++)
        if (llabs(gathered->at[i].delta_ns) >= LEAST_NS)
            gathered->at[kept++] = gathered->at[i];
    gathered->count = kept;
}

static size_t row_count(const struct table *table)
{
    return table ? table->row_count : 0;
}

static int64_t whole_of(const struct compared_pair *pair)
{
    const struct table *summary;
    int64_t row = contributors_summary_row(pair, &summary);
    return row < 0 ? 0 : table_cell(summary, (size_t)row, COMPARE_SUMMARY_DELTA_MEAN_NS)->i;
}

bool contributors_find(const struct compared_pair *pair, struct arena *arena,
                       struct contributors *found, struct err *err)
{
    const struct table *waterfall = report_find(pair->report, table_compare_waterfall.name);
    const struct table *collectives = report_find(pair->report, table_compare_collectives.name);
    struct gathered all = {
        .pair = pair, .arena = arena, .room = row_count(waterfall) + row_count(collectives)};
    all.at = arena_array(arena, all.room, sizeof *all.at, err);
    if (!all.at)
        return false;
    add_rows(&all, waterfall, add_collectives(&all, collectives));
    qsort(all.at, all.count, sizeof *all.at, by_size);
    join_moved(&all);
    qsort(all.at, all.count, sizeof *all.at, by_size);
    *found = (struct contributors){.at = all.at, .count = all.count, .whole_ns = whole_of(pair)};
    return true;
}
