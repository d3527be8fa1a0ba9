// SPDX-License-Identifier: Apache-2.0
// The parts of a difference as lines of text name them.
#include "server/compare/contributors.h"

#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

enum { NAME_MAX_BYTES = 72, WHY_MAX_BYTES = 400 };

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

static const char *words_of(const char *text, struct arena *arena)
{
    char *words = arena_strdup(arena, str_of(text), NULL);
    for (char *c = words; c && *c; c++)
        if (*c == '_')
            *c = ' ';
    return words ? words : text;
}

// "aten::mm", "exposed all_reduce", "idle by data loading", "unrecorded work".
static const char *name_of(const struct table *reasons, size_t row, struct arena *arena)
{
    const char *title =
        contributors_clean(table_text(reasons, row, COMPARE_REASONS_TITLE), NAME_MAX_BYTES, arena);
    const char *name = title;
    if (table_is(reasons, row, COMPARE_REASONS_KIND, STR("collective")))
        name = arena_printf(arena, NULL, "exposed %s", title);
    else if (table_is(reasons, row, COMPARE_REASONS_KIND, STR("cause")))
        name = strcmp(title, "unrecorded") == 0
                   ? "unrecorded work"
                   : arena_printf(arena, NULL, "idle by %s", words_of(title, arena));
    return name ? name : title;
}

int64_t contributors_summary_row(const struct compared_pair *pair, const struct table **summary)
{
    *summary = report_find(pair->report, table_compare_summary.name);
    for (size_t row = 0; *summary && row < (*summary)->row_count; row++)
        if (table_cell(*summary, row, COMPARE_SUMMARY_CAND)->i == pair->cand)
            return (int64_t)row;
    return -1;
}

bool contributors_no_steps(const struct compared_pair *pair, bool of_cand)
{
    const struct table *summary;
    unsigned column = of_cand ? COMPARE_SUMMARY_CAND_NO_STEPS : COMPARE_SUMMARY_BASE_NO_STEPS;
    int64_t row = contributors_summary_row(pair, &summary);
    return row >= 0 && table_i64(summary, (size_t)row, column, 0);
}

bool contributors_whole(const struct compared_pair *pair)
{
    return contributors_no_steps(pair, false) && contributors_no_steps(pair, true);
}

struct str contributors_doubts(const struct compared_pair *pair)
{
    const struct table *summary;
    int64_t row = contributors_summary_row(pair, &summary);
    return row < 0 ? STR("") : table_text(summary, (size_t)row, COMPARE_SUMMARY_DOUBTS);
}

const char *contributors_sum_word(const struct compared_pair *pair)
{
    bool has_repeats = pair->base->run_count > 1 || pair->side->run_count > 1;
    return !contributors_whole(pair) ? "mean step" : has_repeats ? "mean recording" : "recording";
}

static int by_size(const void *left, const void *right)
{
    const struct contributor *a = left, *b = right;
    int64_t x = llabs(a->delta_ns), y = llabs(b->delta_ns);
    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
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
    const struct table *reasons = report_find(pair->report, table_compare_reasons.name);
    size_t rows = reasons ? reasons->row_count : 0;
    *found = (struct contributors){.whole_ns = whole_of(pair)};
    found->at = arena_array(arena, rows + 1, sizeof *found->at, err);
    if (!found->at)
        return false;
    for (size_t row = 0; row < rows; row++)
        if (table_i64(reasons, row, COMPARE_REASONS_CAND, 0) == pair->cand)
            found->at[found->count++] = (struct contributor){
                .name = name_of(reasons, row, arena),
                .why = contributors_clean(table_text(reasons, row, COMPARE_REASONS_WHY),
                                          WHY_MAX_BYTES, arena),
                .delta_ns = table_i64(reasons, row, COMPARE_REASONS_DELTA_NS, 0)};
    if (found->count)
        qsort(found->at, found->count, sizeof *found->at, by_size);
    return true;
}
