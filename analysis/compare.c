// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: the verdict, the settings that differ, the waterfall.
#include "analysis/compare.h"

#include "analysis/tables.h"
#include "analysis/time_text.h"
#include "analysis/waterfall.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t i64_or(const struct table *table, const char *column, int64_t fallback)
{
    const struct cell *cell = table && table->row_count ? table_cell(table, 0, column) : NULL;
    return cell && !cell->null ? cell->i : fallback;
}

static struct waterfall_side side_of(const struct report *rank)
{
    struct waterfall_side side = {.parts = report_find(rank, "parts")};
    const struct table *breakdown = report_find(rank, "breakdown");
    for (size_t i = 0; breakdown && i < breakdown->row_count; i++) {
        struct str scope = table_cell(breakdown, i, "scope")->s;
        if (!str_equal(scope, STR("steady")) && !str_equal(scope, STR("run_median")))
            continue;
        side.total = parts_read(breakdown, i);
        side.steps = table_cell(breakdown, i, "steps")->i;
    }
    if (side.steps > 0) {
        struct parts mean = parts_per_step(&side.total, side.steps);
        side.mean_ns = parts_window_ns(&mean);
    }
    return side;
}

// --- settings -----------------------------------------------------------------------------------

struct setting {
    struct str key, value;
    int64_t ranks; // that have this value
};

static int compare_settings(const void *a, const void *b)
{
    const struct setting *x = a, *y = b;
    int order = str_compare(x->key, y->key);
    return order ? order : (x->ranks < y->ranks) - (x->ranks > y->ranks);
}

// A run's settings by key, each with the value that most ranks have. Returns how many.
static size_t read_settings(const struct report *run, struct setting *settings)
{
    const struct table *table = report_find(run, "environment");
    size_t count = table ? table->row_count : 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        settings[i] =
            (struct setting){table_cell(table, i, "key")->s, table_cell(table, i, "value")->s,
                             table_cell(table, i, "ranks")->i};
    if (count)
        qsort(settings, count, sizeof *settings, compare_settings);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || !str_equal(settings[kept - 1].key, settings[i].key))
            settings[kept++] = settings[i];
    return kept;
}

// In the order in which they are written: what only one side says is less sure to matter.
enum likeness { DIFFERENT, ONE_SIDED, EQUAL, LIKENESS_COUNT };

static enum likeness compare_setting(const struct setting *base, const struct setting *cand)
{
    if (!base || !cand)
        return ONE_SIDED;
    return str_equal(base->value, cand->value) ? EQUAL : DIFFERENT;
}

static bool add_setting(struct report *report, const struct setting *base,
                        const struct setting *cand, struct err *err)
{
    struct row row = {0};
    row_i64(&row, 1);
    row_text(&row, base ? base->key : cand->key);
    row_text_if(&row, base != NULL, base ? base->value : (struct str){0});
    row_text_if(&row, cand != NULL, cand ? cand->value : (struct str){0});
    row_bool(&row, compare_setting(base, cand) != EQUAL);
    row_word(&row, base ? "trace" : NULL);
    row_word(&row, cand ? "trace" : NULL);
    return row_end(&row, &table_compare_settings, report, err);
}

struct settings {
    struct setting *at;
    size_t count;
};

// Walks both lists by key and writes those of one likeness.
static bool add_settings(struct report *report, struct settings base, struct settings cand,
                         enum likeness likeness, struct err *err)
{
    for (size_t b = 0, c = 0; b < base.count || c < cand.count;) {
        int order = b == base.count   ? 1
                    : c == cand.count ? -1
                                      : str_compare(base.at[b].key, cand.at[c].key);
        const struct setting *left = order <= 0 ? &base.at[b++] : NULL;
        const struct setting *right = order >= 0 ? &cand.at[c++] : NULL;
        if (compare_setting(left, right) == likeness && !add_setting(report, left, right, err))
            return false;
    }
    return true;
}

static size_t count_settings(const struct report *run)
{
    const struct table *table = report_find(run, "environment");
    return table ? table->row_count : 0;
}

static bool compare_environments(const struct report *base, const struct report *candidate,
                                 struct report *report, struct err *err)
{
    size_t room = count_settings(base);
    struct setting *all = calloc(room + count_settings(candidate) + 1, sizeof *all);
    if (!all)
        return err_set(err, ERR_LIMIT, "out of memory for settings");
    struct settings left = {all, read_settings(base, all)};
    struct settings right = {all + room, read_settings(candidate, all + room)};
    bool ok = true;
    for (int l = 0; ok && l < LIKENESS_COUNT; l++)
        ok = add_settings(report, left, right, (enum likeness)l, err);
    free(all);
    return ok;
}

// --- summary ------------------------------------------------------------------------------------

// The verdict in words. One run per side says nothing about the noise between runs.
static void write_verdict(char *text, size_t size, int64_t base_ns, int64_t cand_ns)
{
    if (base_ns < 0 || cand_ns < 0) {
        snprintf(text, size, "%s no steps on a device, so that there is nothing to compare",
                 base_ns < 0 && cand_ns < 0 ? "both runs have"
                 : base_ns < 0              ? "the base has"
                                            : "the candidate has");
        return;
    }
    double share = base_ns ? fabs((double)(cand_ns - base_ns)) / (double)base_ns : 0;
    snprintf(text, size,
             "the candidate's median step is %s, the base's %s: %.1f %% %s; with one run per side "
             "the noise between runs is unknown",
             time_text(cand_ns).text, time_text(base_ns).text, 100 * share,
             cand_ns < base_ns   ? "shorter"
             : cand_ns > base_ns ? "longer"
                                 : "apart");
}

static void add_cell(struct row *row, const struct table *summary, const char *column)
{
    row_cell(row, summary && summary->row_count ? *table_cell(summary, 0, column) : cell_null());
}

static bool add_summary(const struct table *summaries[2], const struct waterfall_side sides[2],
                        double matched_share, struct report *report, struct err *err)
{
    int64_t base_ns = i64_or(summaries[0], "step_median_ns", -1);
    int64_t cand_ns = i64_or(summaries[1], "step_median_ns", -1);
    bool known = base_ns >= 0 && cand_ns >= 0;
    char verdict[256];
    write_verdict(verdict, sizeof verdict, base_ns, cand_ns);
    struct row row = {0};
    row_i64(&row, 1);
    add_cell(&row, summaries[0], "step_median_ns");
    add_cell(&row, summaries[1], "step_median_ns");
    row_i64_if(&row, known, cand_ns - base_ns);
    row_share(&row, cand_ns - base_ns, known ? base_ns : 0);
    add_cell(&row, summaries[0], "step_ci_low_ns");
    add_cell(&row, summaries[0], "step_ci_high_ns");
    add_cell(&row, summaries[1], "step_ci_low_ns");
    add_cell(&row, summaries[1], "step_ci_high_ns");
    row_share(&row, base_ns, known ? cand_ns : 0);
    row_word(&row, "noise unknown");
    row_word(&row, verdict);
    row_i64(&row, sides[0].steps);
    row_i64(&row, sides[1].steps);
    row_i64(&row, sides[0].mean_ns);
    row_i64(&row, sides[1].mean_ns);
    row_i64(&row, sides[1].mean_ns - sides[0].mean_ns);
    row_f64(&row, matched_share);
    row_i64(&row, 1);
    row_i64(&row, 1);
    while (row.count < table_compare_summary.column_count)
        row_null(&row);
    return row_end(&row, &table_compare_summary, report, err);
}

bool analyse_compare(const struct compare_side *base, const struct compare_side *cands,
                     size_t cand_count, const struct compare_options *options,
                     struct report *report, struct err *err)
{
    (void)options;
    if (base->run_count < 1 || cand_count < 1 || cands->run_count < 1)
        return err_set(err, ERR_USAGE, "found no runs to compare");
    const struct compare_run *runs[2] = {base->runs, cands->runs};
    const struct table *summaries[2] = {report_find(runs[0]->run, "summary"),
                                        report_find(runs[1]->run, "summary")};
    const struct waterfall_side sides[2] = {side_of(runs[0]->rank), side_of(runs[1]->rank)};
    double matched_share;
    return waterfall_write(sides, report, &matched_share, err) &&
           add_summary(summaries, sides, matched_share, report, err) &&
           compare_environments(runs[0]->run, runs[1]->run, report, err);
}
