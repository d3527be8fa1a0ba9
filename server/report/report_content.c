// SPDX-License-Identifier: Apache-2.0
#include "server/report/report_content.h"

#include "analysis/analysis.h"
#include "analysis/names/category.h"
#include "analysis/report/ranked.h"
#include "analysis/run/run_figures.h"
#include "ingest/base/clock.h"
#include "ingest/base/orders.h"
#include "server/base/number_text.h"
#include "server/exports/tracelens_sheets.h"
#include "server/report/report_evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHANGES = 10, MOST_FINDINGS = 5, MOST_DOUBTS = 20 };

struct content {
    struct request *request;
    struct response *response;
    const struct compared *compared;
    struct document *doc;
    struct report *tables; // of the first run of each side
    struct str base_url;
};

// --- words --------------------------------------------------------------------------------------

static const struct run *first_run(const struct compared *compared, size_t side)
{
    return &compared->sides[side].runs[0];
}

static struct str name_of(const struct content *content, const struct compared *compared,
                          size_t side)
{
    const struct run *run = first_run(compared, side);
    size_t count = compared->sides[side].count;
    if (count == 1)
        return run->name;
    return doc_printf(content->doc, "%.*s and %zu more", (int)run->name.len, run->name.at,
                      count - 1);
}

// What people entered.
static struct str given(const struct run *run, const char *key)
{
    for (size_t i = 0; i < run->meta_count; i++)
        if (str_equal(run->meta[i].key, str_of(key)))
            return run->meta[i].value;
    return STR("");
}

static struct str model_of(const struct run *run)
{
    return given(run, "model");
}

// "too_few_runs" in words.
static struct str in_words(struct document *doc, struct str name)
{
    struct str words = doc_printf(doc, "%.*s", (int)name.len, name.at);
    for (char *c = (char *)(uintptr_t)words.at; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return words;
}

// A part of the step, as on the pages.
static struct str part_words(struct str bar)
{
    static const char *const words[BAR_COUNT] = {
        [BAR_GEMM] = "GEMM / matmul",
        [BAR_ATTENTION] = "Attention",
        [BAR_OTHER_COMPUTE] = "Other compute",
        [BAR_EXPOSED_COMM] = "Exposed communication",
        [BAR_EXPOSED_MEMORY] = "Exposed copies",
        [BAR_IDLE_HOST_WAIT] = "Idle: host wait",
        [BAR_IDLE_OTHER] = "Idle: other",
        [BAR_UNRECORDED] = "Unrecorded work",
    };
    enum bar found = category_bar_of_word(bar);
    return found < BAR_COUNT ? str_of(words[found]) : bar;
}

static struct str link_of(const struct content *content, const struct run *run, const char *page)
{
    return doc_printf(content->doc, "%.*s/runs/%.*s%s", (int)content->base_url.len,
                      content->base_url.at, (int)run->id.len, run->id.at, page);
}

static void columns(struct document *doc, const char *const *labels)
{
    for (; *labels; labels++)
        doc_column(doc, str_of(*labels));
}

static void begin_with_columns(struct document *doc, const char *title, const char *text,
                               const char *const *labels)
{
    doc_begin(doc, str_of(title), str_of(text));
    columns(doc, labels);
}

// --- figures side by side -----------------------------------------------------------------------

// The range of a figure over the repeats that have it.
struct spread {
    size_t count;
    double low, median, high;
};

static struct spread spread_of(const struct compared_side *side, size_t figure)
{
    double values[COMPARE_MAX_RUNS];
    struct spread spread = {.median = (double)NAN};
    for (size_t i = 0; i < side->count; i++)
        if (!isnan(side->runs[i].figures[figure]))
            values[spread.count++] = side->runs[i].figures[figure];
    if (!spread.count)
        return spread;
    qsort(values, spread.count, sizeof *values, order_doubles);
    spread.low = values[0];
    spread.median = values[(spread.count - 1) / 2];
    spread.high = values[spread.count - 1];
    return spread;
}

// What the run says about its figure: the source, or the basis.
static struct str said_of(const struct report *tables, enum run_figure_id figure, unsigned column)
{
    const struct table *figures = report_find(tables, "figures");
    for (size_t row = 0; figures && row < figures->row_count; row++)
        if (table_is(figures, row, RUN_FIGURES_METRIC, str_of(run_figures[figure].metric)) &&
            table_cell(figures, row, RUN_FIGURES_PREFERRED)->i)
            return table_text(figures, row, column);
    return STR("");
}

// Relative, but in points for shares; none for a loss, which has no scale.
static void add_difference(size_t figure, double value, double base, struct buf *out)
{
    if (strcmp(run_figures[figure].unit, "share") == 0)
        buf_printf(out, ", %+.1f points", (value - base) * 100);
    else if (run_figures[figure].unit[0] && base > 0)
        buf_printf(out, ", %+.1f %%", (value / base - 1) * 100);
}

// "log, +3.2 %, 95.1 to 99.0 of 3 runs"
static struct str note_of(const struct content *content, size_t side, size_t figure,
                          const struct spread *spread)
{
    struct buf note = {0};
    double base = spread_of(&content->compared->sides[0], figure).median;
    buf_add_str(&note,
                said_of(&content->tables[side], (enum run_figure_id)figure, RUN_FIGURES_SOURCE));
    if (side > 0 && isfinite(base))
        add_difference(figure, spread->median, base, &note);
    if (spread->count > 1) {
        buf_puts(&note, ", ");
        number_text_add(spread->low, run_figures[figure].unit, &note);
        buf_puts(&note, " to ");
        number_text_add(spread->high, run_figures[figure].unit, &note);
        buf_printf(&note, " of %zu runs", spread->count);
    }
    struct str copy = doc_printf(content->doc, "%.*s", (int)note.len, note.len ? note.at : "");
    buf_free(&note);
    return copy;
}

static bool is_known(const struct compared *compared, size_t figure)
{
    for (size_t side = 0; side < compared->side_count; side++)
        if (spread_of(&compared->sides[side], figure).count)
            return true;
    return false;
}

static void add_figure(struct content *content, size_t figure)
{
    struct document *doc = content->doc;
    doc_text(doc, str_of(run_figures[figure].label));
    for (size_t side = 0; side < content->compared->side_count; side++) {
        struct spread spread = spread_of(&content->compared->sides[side], figure);
        struct doc_cell *cell = doc_number(doc, spread.median, run_figures[figure].unit);
        if (spread.count)
            cell->note = note_of(content, side, figure, &spread);
    }
}

// Of the whole job, in which a rank may have several.
static double gpus_of(const struct content *content, size_t side)
{
    const struct table *summary = report_find(&content->tables[side], table_run_summary.name);
    int64_t world = first_run(content->compared, side)->world_size;
    int64_t devices =
        summary && summary->row_count ? table_i64(summary, 0, RUN_SUMMARY_DEVICES, 1) : 1;
    return world > 0 ? (double)world * (double)(devices > 1 ? devices : 1) : (double)NAN;
}

static void add_facts(struct content *content)
{
    const struct compared *compared = content->compared;
    struct document *doc = content->doc;
    doc_text(doc, STR("Run"));
    for (size_t side = 0; side < compared->side_count; side++)
        doc_text(doc, first_run(compared, side)->name)->href =
            link_of(content, first_run(compared, side), "");
    doc_text(doc, STR("Model"));
    for (size_t side = 0; side < compared->side_count; side++)
        doc_text(doc, model_of(first_run(compared, side)));
    doc_text(doc, STR("GPU"));
    for (size_t side = 0; side < compared->side_count; side++) {
        const struct run *run = first_run(compared, side);
        doc_text(doc, run->gpu.null ? STR("") : run->gpu.s);
    }
    doc_text(doc, STR("GPUs"));
    for (size_t side = 0; side < compared->side_count; side++)
        doc_number(doc, gpus_of(content, side), "count");
}

// The formula where operations follow from the size of the model.
static void add_basis(struct content *content)
{
    struct document *doc = content->doc;
    bool any = false;
    for (size_t side = 0; side < content->compared->side_count; side++)
        any |= said_of(&content->tables[side], RUN_FIGURE_TFLOPS, RUN_FIGURES_BASIS).len > 0;
    if (!any)
        return;
    doc_text(doc, STR("TFLOP/s and MFU by"));
    for (size_t side = 0; side < content->compared->side_count; side++)
        doc_text(doc, said_of(&content->tables[side], RUN_FIGURE_TFLOPS, RUN_FIGURES_BASIS));
}

static void add_figures(struct content *content)
{
    struct document *doc = content->doc;
    doc_begin(
        doc, STR("Platforms"),
        STR("Each figure with its source, and its difference from the first column. Of repeats "
            "the median, with the lowest and the highest."));
    doc_column(doc, STR("Figure"));
    for (size_t side = 0; side < content->compared->side_count; side++)
        doc_column(doc, name_of(content, content->compared, side));
    add_facts(content);
    for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
        if (is_known(content->compared, i))
            add_figure(content, i);
    add_basis(content);
}

static void add_definitions(struct content *content)
{
    static const char *const labels[] = {"Figure", "Meaning", NULL};
    begin_with_columns(content->doc, "What the figures mean", "", labels);
    for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
        if (is_known(content->compared, i)) {
            doc_text(content->doc, str_of(run_figures[i].label));
            doc_text(content->doc, str_of(run_figures[i].help));
        }
}

// --- comparisons --------------------------------------------------------------------------------

// Sides with the same model, and their comparison.
struct group {
    struct content *content;
    struct compared compared;
    const struct report *report;
};

static struct str title_of(const struct group *group, const char *title)
{
    struct str model = model_of(first_run(&group->compared, 0));
    return model.len ? doc_printf(group->content->doc, "%s: %.*s", title, (int)model.len, model.at)
                     : str_of(title);
}

static struct str candidate_of(const struct group *group, const struct table *table, size_t row,
                               unsigned column)
{
    return name_of(group->content, &group->compared, (size_t)table_i64(table, row, column, 1));
}

// Whether no step of both sides is marked: times are of recordings.
static bool is_whole(const struct table *summary, size_t row)
{
    return table_i64(summary, row, COMPARE_SUMMARY_BASE_NO_STEPS, 0) &&
           table_i64(summary, row, COMPARE_SUMMARY_CAND_NO_STEPS, 0);
}

// The same of all candidates.
static bool is_all_whole(const struct group *group)
{
    const struct table *summary = report_find(group->report, "compare_summary");
    for (size_t row = 0; summary && row < summary->row_count; row++)
        if (!is_whole(summary, row))
            return false;
    return summary && summary->row_count;
}

// Whether a step is a step on both sides.
static bool are_steps(const struct table *summary, size_t row)
{
    return !table_i64(summary, row, COMPARE_SUMMARY_BASE_NO_STEPS, 0) &&
           !table_i64(summary, row, COMPARE_SUMMARY_CAND_NO_STEPS, 0);
}

// "b takes 906.1 ms per step, 15.8 % less than a: noise unknown."
static void add_shift(const struct group *group, const struct table *table, size_t row,
                      struct buf *text)
{
    struct str base = name_of(group->content, &group->compared, 0);
    struct str cand = candidate_of(group, table, row, COMPARE_SUMMARY_CAND);
    double shift = table_number(table, row, COMPARE_SUMMARY_SHIFT_SHARE, NAN);
    if (!table_i64(table, row, COMPARE_SUMMARY_SAME_WORK, 1)) {
        buf_printf(text, "%.*s and %.*s did different work, so neither is faster.", (int)cand.len,
                   cand.at, (int)base.len, base.at);
        return;
    }
    buf_printf(text, "%.*s takes ", (int)cand.len, cand.at);
    number_text_add(table_number(table, row, COMPARE_SUMMARY_CAND_STEP_NS, NAN), "ns", text);
    buf_printf(text, "%s, %.1f %% %s than %.*s: ", are_steps(table, row) ? " per step" : "",
               fabs(shift) * 100, shift < 0 ? "less" : "more", (int)base.len, base.at);
    buf_add_str(text,
                in_words(group->content->doc, table_text(table, row, COMPARE_SUMMARY_VERDICT)));
    buf_puts(text, ".");
}

static void add_lead(const struct group *group)
{
    struct document *doc = group->content->doc;
    const struct table *table = report_find(group->report, "compare_summary");
    struct buf text = {0};
    buf_add_str(&text, doc->lead);
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (isnan(table_number(table, row, COMPARE_SUMMARY_SHIFT_SHARE, NAN)))
            continue;
        buf_puts(&text, text.len ? " " : "");
        add_shift(group, table, row, &text);
    }
    doc->lead = doc_printf(doc, "%.*s", (int)text.len, text.len ? text.at : "");
    buf_free(&text);
}

static const char *compared_by(const struct group *group)
{
    const struct table *summary = report_find(group->report, "compare_summary");
    if (is_all_whole(group))
        return "all that was recorded, as no step is marked";
    for (size_t row = 0; summary && row < summary->row_count; row++)
        if (!are_steps(summary, row))
            return "the steady steps of the traces, or all that was recorded where none is marked";
    return "the steady steps of the traces";
}

static void add_verdicts(const struct group *group)
{
    static const char *const labels[] = {"Candidate", "Step",    "Step of the base",
                                         "Shift",     "Verdict", NULL};
    struct document *doc = group->content->doc;
    const struct table *table = report_find(group->report, "compare_summary");
    struct str base = name_of(group->content, &group->compared, 0);
    doc_begin(doc, title_of(group, "Verdict"),
              doc_printf(doc, "Against %.*s, by %s.", (int)base.len, base.at, compared_by(group)));
    columns(doc, labels);
    for (size_t row = 0; table && row < table->row_count; row++) {
        doc_text(doc, candidate_of(group, table, row, COMPARE_SUMMARY_CAND));
        doc_number(doc, table_number(table, row, COMPARE_SUMMARY_CAND_STEP_NS, NAN), "ns");
        doc_number(doc, table_number(table, row, COMPARE_SUMMARY_BASE_STEP_NS, NAN), "ns");
        doc_number(doc, table_number(table, row, COMPARE_SUMMARY_SHIFT_SHARE, NAN), "share");
        doc_text(doc, table_text(table, row, COMPARE_SUMMARY_VERDICT_TEXT));
    }
}

static void add_settings(const struct group *group)
{
    static const char *const labels[] = {"Setting", "Candidate", "Value", "Value of the base",
                                         NULL};
    struct document *doc = group->content->doc;
    const struct table *table = report_find(group->report, "compare_settings");
    doc_begin(doc, title_of(group, "Settings that differ"), STR(""));
    columns(doc, labels);
    for (size_t row = 0; table && row < table->row_count; row++) {
        const struct cell *differs = table_cell(table, row, COMPARE_SETTINGS_DIFFERS);
        if (differs->null || !differs->i)
            continue;
        doc_text(doc, table_text(table, row, COMPARE_SETTINGS_KEY));
        doc_text(doc, candidate_of(group, table, row, COMPARE_SETTINGS_CAND));
        doc_text(doc, table_text(table, row, COMPARE_SETTINGS_CAND_VALUE));
        doc_text(doc, table_text(table, row, COMPARE_SETTINGS_BASE));
    }
}

// A name, a candidate, and those of add_times, of which the last is the difference.
enum { TIME_COLUMNS = 5 };

static void add_times(struct document *doc, const struct table *table, size_t row)
{
    doc_number(doc, table_number(table, row, COMPARE_WATERFALL_CAND_NS, NAN), "ns");
    doc_number(doc, table_number(table, row, COMPARE_WATERFALL_BASE_NS, NAN), "ns");
    doc_number(doc, table_number(table, row, COMPARE_WATERFALL_DELTA_NS, NAN), "ns");
}

static bool has_time(const struct table *table, size_t row)
{
    return table_i64(table, row, COMPARE_WATERFALL_CAND_NS, 0) ||
           table_i64(table, row, COMPARE_WATERFALL_BASE_NS, 0);
}

static void add_waterfall(const struct group *group)
{
    static const char *const labels[] = {"Part",       "Candidate", "Time", "Time of the base",
                                         "Difference", NULL};
    struct document *doc = group->content->doc;
    const struct table *table = report_find(group->report, "compare_waterfall");
    doc_begin(doc, title_of(group, "Where the difference is"),
              is_all_whole(group)
                  ? STR("Parts of the recording; they sum to the difference exactly.")
                  : STR("Parts of the mean steady step; they sum to the difference exactly."))
        ->bars = TIME_COLUMNS;
    columns(doc, labels);
    for (size_t row = 0; table && row < table->row_count; row++)
        if (table_is(table, row, COMPARE_WATERFALL_LEVEL, STR("bar")) && has_time(table, row)) {
            doc_text(doc, part_words(table_text(table, row, COMPARE_WATERFALL_BAR)));
            doc_text(doc, candidate_of(group, table, row, COMPARE_WATERFALL_CAND));
            add_times(doc, table, row);
        }
}

static struct str change_name(const struct table *table, size_t row)
{
    static const unsigned names[] = {COMPARE_WATERFALL_OP, COMPARE_WATERFALL_CAND_KERNEL,
                                     COMPARE_WATERFALL_BASE_KERNEL, COMPARE_WATERFALL_CATEGORY};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (table_text(table, row, names[i]).len)
            return table_text(table, row, names[i]);
    return STR("");
}

// Rows of operators, the largest difference first.
static bool rank_changes(const struct table *table, struct ranked *ranked, size_t *count)
{
    *count = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        int64_t delta_ns = table_i64(table, row, COMPARE_WATERFALL_DELTA_NS, 0);
        if (table_is(table, row, COMPARE_WATERFALL_LEVEL, STR("op")) && delta_ns)
            ranked[(*count)++] = (struct ranked){.total_ns = delta_ns < 0 ? -delta_ns : delta_ns,
                                                 .index = (uint32_t)row};
    }
    ranked_sort(ranked, *count);
    return *count > 0;
}

static bool add_changes(const struct group *group, struct err *err)
{
    static const char *const labels[] = {
        "Operator or kernel", "Candidate", "Time", "Time of the base",
        "Difference",         "Verdict",   NULL};
    struct document *doc = group->content->doc;
    const struct table *table = report_find(group->report, "compare_waterfall");
    size_t count = 0;
    if (!table)
        return true;
    struct ranked *ranked = arena_array(doc->arena, table->row_count + 1, sizeof *ranked, err);
    if (!ranked)
        return false;
    if (!rank_changes(table, ranked, &count))
        return true;
    doc_begin(doc, title_of(group, "Largest changes"),
              is_all_whole(group) ? STR("Device time, by operator.")
                                  : STR("Device time per step, by operator."))
        ->bars = TIME_COLUMNS;
    columns(doc, labels);
    for (size_t i = 0; i < count && i < MOST_CHANGES; i++) {
        size_t row = ranked[i].index;
        doc_text(doc, change_name(table, row));
        doc_text(doc, candidate_of(group, table, row, COMPARE_WATERFALL_CAND));
        add_times(doc, table, row);
        doc_text(doc, table_text(table, row, COMPARE_WATERFALL_VERDICT));
    }
    return true;
}

static bool add_group(struct group *group, struct err *err)
{
    struct content *content = group->content;
    struct comparison comparison;
    if (!compare_sides_judge(content->request, &group->compared, err) ||
        !compare_sides_analyze(content->request, content->response, &group->compared, &comparison,
                               err))
        return false;
    group->report = &comparison.report;
    add_lead(group);
    add_verdicts(group);
    add_settings(group);
    add_waterfall(group);
    return add_changes(group, err);
}

static bool has_steps(const struct compared_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        if (side->runs[i].step_median_ns.null)
            return false;
    return true;
}

// The sides from `first` on that have the same model and can be compared.
static void gather(const struct content *content, size_t first, struct compared *found)
{
    const struct compared *all = content->compared;
    *found = (struct compared){.options = all->options};
    for (size_t side = first; side < all->side_count; side++)
        if (has_steps(&all->sides[side]) &&
            str_equal(model_of(first_run(all, side)), model_of(first_run(all, first))))
            found->sides[found->side_count++] = all->sides[side];
}

static bool is_first_of_model(const struct compared *compared, size_t side)
{
    for (size_t i = 0; i < side; i++)
        if (str_equal(model_of(first_run(compared, i)), model_of(first_run(compared, side))))
            return false;
    return true;
}

// All sides with the model of side `first`.
static void add_convergence(struct content *content, size_t first)
{
    const struct compared *all = content->compared;
    const struct report *tables[1 + COMPARE_MAX_CANDIDATES];
    struct str names[1 + COMPARE_MAX_CANDIDATES], model = model_of(first_run(all, first));
    struct report_sides sides = {tables, names, 0};
    for (size_t side = first; side < all->side_count; side++) {
        if (!str_equal(model_of(first_run(all, side)), model))
            continue;
        tables[sides.count] = &content->tables[side];
        names[sides.count++] = name_of(content, all, side);
    }
    report_add_convergence(
        content->doc,
        model.len ? doc_printf(content->doc, "Convergence: %.*s", (int)model.len, model.at)
                  : STR("Convergence"),
        &sides);
}

static void add_evidence(struct content *content)
{
    const struct compared *all = content->compared;
    const struct report *tables[1 + COMPARE_MAX_CANDIDATES];
    struct str names[1 + COMPARE_MAX_CANDIDATES];
    struct report_sides sides = {tables, names, all->side_count};
    for (size_t side = 0; side < all->side_count; side++) {
        tables[side] = &content->tables[side];
        names[side] = name_of(content, all, side);
    }
    report_add_links(content->doc, &sides);
    for (size_t side = 0; side < all->side_count; side++)
        if (is_first_of_model(all, side))
            add_convergence(content, side);
}

static bool add_comparisons(struct content *content, struct err *err)
{
    for (size_t side = 0; side < content->compared->side_count; side++) {
        struct group group = {.content = content};
        if (!is_first_of_model(content->compared, side))
            continue;
        gather(content, side, &group.compared);
        if (group.compared.side_count > 1 && !add_group(&group, err))
            return false;
    }
    return true;
}

// --- what was found -----------------------------------------------------------------------------

static void add_findings_of(struct content *content, size_t side)
{
    const struct table *table = report_find(&content->tables[side], "findings");
    const struct run *run = first_run(content->compared, side);
    struct document *doc = content->doc;
    for (size_t row = 0; table && row < table->row_count && row < MOST_FINDINGS; row++) {
        doc_text(doc, run->name)->href = link_of(content, run, "");
        doc_sentence(doc, table_text(table, row, RUN_FINDINGS_TITLE));
        doc_number(doc, table_number(table, row, RUN_FINDINGS_COST_NS, NAN), "ns");
        doc_number(doc, table_number(table, row, RUN_FINDINGS_COST_SHARE, NAN), "share");
        doc_sentence(doc, table_text(table, row, RUN_FINDINGS_ADVICE));
    }
}

static void add_findings(struct content *content)
{
    static const char *const labels[] = {"Run",   "Finding", "Costs at most per step",
                                         "Share", "Advice",  NULL};
    begin_with_columns(content->doc, "Findings", "What to fix first in each run.", labels);
    for (size_t side = 0; side < content->compared->side_count; side++)
        add_findings_of(content, side);
}

static void add_doubts_of(struct content *content, size_t side)
{
    const struct table *table = report_find(&content->tables[side], "trust");
    const struct run *run = first_run(content->compared, side);
    struct document *doc = content->doc;
    size_t left = MOST_DOUBTS;
    for (size_t row = 0; table && row < table->row_count && left; row++) {
        if (table_is(table, row, RUN_TRUST_SEVERITY, STR("info")))
            continue;
        doc_text(doc, run->name)->href = link_of(content, run, "/data");
        doc_text(doc, table_text(table, row, RUN_TRUST_SEVERITY));
        doc_sentence(doc, table_text(table, row, RUN_TRUST_DETAIL));
        doc_sentence(doc, table_text(table, row, RUN_TRUST_EFFECT));
        left--;
    }
}

static void add_doubts(struct content *content)
{
    static const char *const labels[] = {"Run", "Severity", "Found", "Effect", NULL};
    begin_with_columns(content->doc, "Trust", "What limits these figures.", labels);
    for (size_t side = 0; side < content->compared->side_count; side++)
        add_doubts_of(content, side);
}

// --- a sheet that other tools have --------------------------------------------------------------

// TraceLens's gpu_timeline of the headline rank: there, as here, a class is the union of its
// events.
static void add_timeline(struct content *content, size_t side)
{
    static const char *const labels[] = {"type", "time ms", "percent", NULL};
    const struct table *table = report_find(&content->tables[side], "breakdown");
    struct document *doc = content->doc;
    if (!table || !table->row_count)
        return;
    struct str title = side ? doc_printf(doc, "gpu_timeline %zu", side + 1) : STR("gpu_timeline");
    doc_begin(doc, title, STR(""))->only_sheet = true;
    columns(doc, labels);
    double total_ns = table_number(table, 0, RUN_BREAKDOWN_WINDOW_NS, NAN);
    for (size_t i = 0; i < TRACELENS_PARTS; i++) {
        double ns = table_number(table, 0, tracelens_parts[i].column, NAN);
        doc_text(doc, str_of(tracelens_parts[i].type));
        doc_number(doc, ns / 1e6, "");
        doc_number(doc, total_ns > 0 ? 100 * ns / total_ns : (double)NAN, "");
    }
}

// --- all of it ----------------------------------------------------------------------------------

static bool load(struct content *content, struct err *err)
{
    static const struct table_desc *const known[] = {
        &table_run_figures, &table_run_findings, &table_run_trust, &table_run_breakdown,
        &table_run_summary, &table_link_tests,   &table_log_curve, NULL};
    struct request *request = content->request;
    size_t count = content->compared->side_count;
    content->tables = arena_array(request->arena, count, sizeof *content->tables, err);
    if (!content->tables)
        return false;
    for (size_t side = 0; side < count; side++) {
        content->tables[side] = (struct report){.arena = request->arena};
        if (!store_load_run_tables(request->services->intake->store,
                                   first_run(content->compared, side)->id, known,
                                   &content->tables[side], err))
            return false;
    }
    return true;
}

static void add_title(struct content *content)
{
    char today[CLOCK_RFC3339_SIZE];
    size_t count = content->compared->side_count;
    struct str name = name_of(content, content->compared, 0);
    clock_rfc3339(clock_wall_ns(), today);
    content->doc->title = name;
    if (count > 1) {
        struct str second = name_of(content, content->compared, 1);
        content->doc->title =
            count == 2 ? doc_printf(content->doc, "%.*s and %.*s", (int)name.len, name.at,
                                    (int)second.len, second.at)
                       : doc_printf(content->doc, "%.*s, %.*s and %zu more", (int)name.len, name.at,
                                    (int)second.len, second.at, count - 2);
    }
    content->doc->subtitle = doc_printf(content->doc, "stepscope %s, analysis version %d, %.10s",
                                        STEPSCOPE_VERSION, ANALYSIS_VERSION, today);
}

// Sections without a row say nothing.
static void drop_empty(struct document *doc)
{
    size_t kept = 0;
    for (size_t i = 0; i < doc->count; i++)
        if (doc_rows(&doc->sections[i]))
            doc->sections[kept++] = doc->sections[i];
    doc->count = kept;
}

bool report_content(struct request *request, struct response *response,
                    const struct compared *compared, struct document *doc, struct err *err)
{
    struct content content = {
        .request = request, .response = response, .compared = compared, .doc = doc};
    doc->arena = request->arena;
    if (!request_base_url(request, &content.base_url, err) || !load(&content, err))
        return false;
    add_title(&content);
    add_figures(&content);
    add_evidence(&content);
    if (!add_comparisons(&content, err))
        return false;
    add_findings(&content);
    add_doubts(&content);
    add_definitions(&content);
    for (size_t side = 0; side < compared->side_count; side++)
        add_timeline(&content, side);
    drop_empty(doc);
    return !doc->failed || err_set(err, ERR_MEMORY, "out of memory");
}
