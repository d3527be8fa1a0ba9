// SPDX-License-Identifier: Apache-2.0
// A comparison as text: verdict, settings, bars, changes.
#include "server/cli/print_compare.h"

#include "analysis/compare/reasons.h"
#include "analysis/report/tables.h"
#include "server/cli/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CHANGES = 10,
    MAX_REASONS = 3,
    MAX_PARITY = 8,
    WHY_INDENT = 36,
    LABEL_WIDTH = 17,
    MAX_NAME = 60
};

static bool is_shown(const struct gate_question *question, const struct table *table, size_t row)
{
    return table_cell(table, row, table_first(table->desc) + CANDIDATE_CAND)->i ==
           question->pair.cand;
}

static const struct table *find(const struct gate_question *question, const struct table_desc *desc)
{
    return report_find(question->pair.report, desc->name);
}

static void print_lines(const struct gate_answer *answer, FILE *out)
{
    for (int i = 0; i < GATE_LINES; i++)
        shown_wrap(out, str_of(answer->lines[i]), 0);
}

// --- the sides ----------------------------------------------------------------------------------

static void print_runs(const struct gate_question *question, FILE *out)
{
    const struct table *runs = find(question, &table_compare_runs);
    for (size_t row = 0; row < shown_rows(runs); row++) {
        int64_t cand = table_i64(runs, row, COMPARE_RUNS_CAND, 0);
        if (cand != 0 && cand != question->pair.cand)
            continue;
        fprintf(out, "  %-*s", LABEL_WIDTH, cand == 0 ? "base" : "candidate");
        shown_put(out, table_text(runs, row, COMPARE_RUNS_NAME), 60);
        long long steady = table_i64(runs, row, COMPARE_RUNS_STEADY_STEPS, 0);
        if (steady == 0)
            fputs(": no steady step\n", out);
        else if (contributors_no_steps(&question->pair, cand != 0))
            fprintf(out, ": recording of %.3f ms, no step is marked\n",
                    shown_ms(runs, row, COMPARE_RUNS_STEP_MEDIAN_NS));
        else
            fprintf(out, ": median step %.3f ms of %lld steady\n",
                    shown_ms(runs, row, COMPARE_RUNS_STEP_MEDIAN_NS), steady);
    }
}

static void print_value(const struct table *settings, size_t row, unsigned column, FILE *out)
{
    struct str value = table_text(settings, row, column);
    shown_put(out, value.len ? value : STR("not recorded"), 60);
}

static void print_settings(const struct gate_question *question, FILE *out)
{
    const struct table *settings = find(question, &table_compare_settings);
    size_t count = 0;
    for (size_t row = 0; row < shown_rows(settings); row++) {
        if (!is_shown(question, settings, row) ||
            !table_i64(settings, row, COMPARE_SETTINGS_DIFFERS, 0))
            continue;
        fputs(count++ ? "" : "\nsettings that differ\n", out);
        fputs("  ", out);
        shown_put(out, table_text(settings, row, COMPARE_SETTINGS_KEY), 40);
        fputs(": ", out);
        print_value(settings, row, COMPARE_SETTINGS_BASE, out);
        fputs(" -> ", out);
        print_value(settings, row, COMPARE_SETTINGS_CAND_VALUE, out);
        fputc('\n', out);
    }
    if (count == 0)
        fputs("\nno recorded setting differs\n", out);
}

// --- where the time went ------------------------------------------------------------------------

static void print_figures(const struct table *table, size_t row, FILE *out)
{
    fprintf(out, "  %10.3f %10.3f %+10.3f  ", shown_ms(table, row, COMPARE_WATERFALL_BASE_NS),
            shown_ms(table, row, COMPARE_WATERFALL_CAND_NS),
            shown_ms(table, row, COMPARE_WATERFALL_DELTA_NS));
}

// The bars sum to the mean step; the bridge leads from there to the median, the headline.
static void print_steps(const struct gate_question *question, const struct table *summary,
                        size_t row, FILE *out)
{
    static const unsigned mean[] = {COMPARE_SUMMARY_BASE_MEAN_NS, COMPARE_SUMMARY_CAND_MEAN_NS,
                                    COMPARE_SUMMARY_DELTA_MEAN_NS};
    static const unsigned median[] = {COMPARE_SUMMARY_BASE_STEP_NS, COMPARE_SUMMARY_CAND_STEP_NS,
                                      COMPARE_SUMMARY_DELTA_NS};
    double from[3], to[3];
    for (int i = 0; i < 3; i++) {
        from[i] = shown_ms(summary, row, mean[i]);
        to[i] = shown_ms(summary, row, median[i]);
    }
    const char *word = contributors_sum_word(&question->pair);
    fprintf(out, "  %10.3f %10.3f %+10.3f  %s\n", from[0], from[1], from[2], word);
    if (strcmp(word, "recording") == 0)
        return; // a single one is mean and median
    fprintf(out, "  %+10.3f %+10.3f %+10.3f  bridge to the median\n", to[0] - from[0],
            to[1] - from[1], shown_ms(summary, row, COMPARE_SUMMARY_BRIDGE_NS));
    fprintf(out, "  %10.3f %10.3f %+10.3f  median %s\n", to[0], to[1], to[2],
            contributors_whole(&question->pair) ? "recording" : "step");
}

// Only incomplete recordings have unrecorded time.
static bool is_all_recorded(const struct table *waterfall, size_t row)
{
    return table_is(waterfall, row, COMPARE_WATERFALL_BAR, STR("unrecorded")) &&
           !table_i64(waterfall, row, COMPARE_WATERFALL_BASE_NS, 0) &&
           !table_i64(waterfall, row, COMPARE_WATERFALL_CAND_NS, 0);
}

static void print_bars(const struct gate_question *question, FILE *out)
{
    const struct table *waterfall = find(question, &table_compare_waterfall);
    const struct table *summary;
    int64_t first = contributors_summary_row(&question->pair, &summary);
    fprintf(out, "\nms%s\n        base  candidate     change\n",
            contributors_whole(&question->pair) ? "" : " per step");
    for (size_t row = 0; row < shown_rows(waterfall); row++) {
        if (!is_shown(question, waterfall, row) ||
            !table_is(waterfall, row, COMPARE_WATERFALL_LEVEL, STR("bar")) ||
            is_all_recorded(waterfall, row))
            continue;
        print_figures(waterfall, row, out);
        shown_words(out, table_text(waterfall, row, COMPARE_WATERFALL_BAR), MAX_NAME);
        fputc('\n', out);
    }
    if (first >= 0)
        print_steps(question, summary, (size_t)first, out);
}

// --- why ----------------------------------------------------------------------------------------

static void print_reason(const struct table *reasons, size_t row, FILE *out)
{
    bool cause = table_is(reasons, row, COMPARE_REASONS_KIND, STR("cause"));
    bool unrecorded = cause && table_is(reasons, row, COMPARE_REASONS_TITLE, STR("unrecorded"));
    bool idle = cause && !unrecorded;
    fprintf(out, "  %10.3f %10.3f %+10.3f  ", shown_ms(reasons, row, COMPARE_REASONS_BASE_NS),
            shown_ms(reasons, row, COMPARE_REASONS_CAND_NS),
            shown_ms(reasons, row, COMPARE_REASONS_DELTA_NS));
    if (idle)
        fputs("idle by ", out);
    if (table_is(reasons, row, COMPARE_REASONS_KIND, STR("collective")))
        fputs("exposed ", out);
    if (idle)
        shown_words(out, table_text(reasons, row, COMPARE_REASONS_TITLE), MAX_NAME);
    else
        shown_put(out, table_text(reasons, row, COMPARE_REASONS_TITLE), MAX_NAME);
    fputs(unrecorded ? " work" : "", out);
    fprintf(out, ", %.0f %% of all %s\n", shown_percent(reasons, row, COMPARE_REASONS_GROSS_SHARE),
            table_i64(reasons, row, COMPARE_REASONS_DELTA_NS, 0) < 0 ? "gains" : "losses");
    shown_wrap(out, table_text(reasons, row, COMPARE_REASONS_WHY), WHY_INDENT);
}

static int64_t relevant_from_ns(const struct gate_question *question)
{
    const struct table *summary;
    int64_t row = contributors_summary_row(&question->pair, &summary);
    return row < 0 ? 0 : table_i64(summary, (size_t)row, COMPARE_SUMMARY_RELEVANT_FROM_NS, 0);
}

// The largest gains, then the largest losses, as the table has them; none too small to matter.
static void print_reasons(const struct gate_question *question, FILE *out)
{
    const struct table *reasons = find(question, &table_compare_reasons);
    int64_t floor_ns = relevant_from_ns(question);
    int counts[2] = {0, 0};
    for (size_t row = 0; row < shown_rows(reasons); row++) {
        int64_t delta_ns = table_i64(reasons, row, COMPARE_REASONS_DELTA_NS, 0);
        if (!is_shown(question, reasons, row) || llabs(delta_ns) < floor_ns ||
            counts[delta_ns > 0]++ >= MAX_REASONS)
            continue;
        if (counts[0] + counts[1] == 1)
            fprintf(out, "\nwhy, ms%s\n        base  candidate     change\n",
                    contributors_whole(&question->pair) ? "" : " per step");
        print_reason(reasons, row, out);
    }
}

// --- parity -------------------------------------------------------------------------------------

static bool gpus_differ(const struct gate_question *question)
{
    const struct table *settings = find(question, &table_compare_settings);
    for (size_t row = 0; row < shown_rows(settings); row++)
        if (is_shown(question, settings, row) &&
            table_is(settings, row, COMPARE_SETTINGS_KEY, STR("gpu")))
            return table_i64(settings, row, COMPARE_SETTINGS_DIFFERS, 0) != 0;
    return false;
}

static void print_parity_row(const struct table *parity, size_t row, FILE *out)
{
    fprintf(out, "  %10.3f  %-9.*s  %5.1f %% -> %4.1f %%  ",
            shown_ms(parity, row, COMPARE_PARITY_SHORTFALL_NS),
            (int)table_text(parity, row, COMPARE_PARITY_BEHIND).len,
            table_text(parity, row, COMPARE_PARITY_BEHIND).at,
            shown_percent(parity, row, COMPARE_PARITY_BASE_PEAK_SHARE),
            shown_percent(parity, row, COMPARE_PARITY_CAND_PEAK_SHARE));
    shown_put(out, table_text(parity, row, COMPARE_PARITY_OP), MAX_NAME);
    fprintf(out, " %s\n", reason_shapes(table_text(parity, row, COMPARE_PARITY_DIMS)).text);
}

// Of two GPUs, the operators that are behind by the other side's share of the peaks.
static void print_parity(const struct gate_question *question, FILE *out)
{
    const struct table *parity = find(question, &table_compare_parity);
    int count = 0;
    if (!gpus_differ(question))
        return;
    for (size_t row = 0; row < shown_rows(parity) && count < MAX_PARITY; row++) {
        if (!is_shown(question, parity, row) ||
            table_i64(parity, row, COMPARE_PARITY_SHORTFALL_NS, 0) < 1000)
            continue;
        if (count++ == 0)
            fprintf(out,
                    "\nbehind the other GPU's share of the peaks, ms%s\n"
                    "   shortfall  side       share of the peak\n",
                    contributors_whole(&question->pair) ? "" : " per step");
        print_parity_row(parity, row, out);
    }
    if (count)
        fputs("  --format json has all, each with a program that times it\n", out);
}

// --- the largest changes ------------------------------------------------------------------------

// Rows of a level by the size of their change.
struct change {
    size_t row;
    int64_t delta_ns;
};

static int by_size(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    int64_t x = llabs(a->delta_ns), y = llabs(b->delta_ns);
    return x != y ? (x < y) - (x > y) : (a->row > b->row) - (a->row < b->row);
}

// Changes of operators that exceed the noise, or for which the noise is unknown.
struct changes {
    struct change *at;
    size_t count, noise; // shown, and left out as noise
};

static void collect(const struct gate_question *question, const struct table *waterfall,
                    struct changes *changes)
{
    for (size_t row = 0; row < shown_rows(waterfall); row++) {
        int64_t delta_ns = table_i64(waterfall, row, COMPARE_WATERFALL_DELTA_NS, 0);
        if (!delta_ns || !table_is(waterfall, row, COMPARE_WATERFALL_LEVEL, STR("op")) ||
            !is_shown(question, waterfall, row))
            continue;
        if (table_is(waterfall, row, COMPARE_WATERFALL_VERDICT, STR("within noise")))
            changes->noise++;
        else
            changes->at[changes->count++] = (struct change){row, delta_ns};
    }
    if (changes->count)
        qsort(changes->at, changes->count, sizeof *changes->at, by_size);
}

// By its own name; idle time only has its cause, and some work its category.
static void print_name(const struct table *waterfall, size_t row, FILE *out)
{
    static const unsigned names[] = {COMPARE_WATERFALL_OP, COMPARE_WATERFALL_CAND_KERNEL,
                                     COMPARE_WATERFALL_BASE_KERNEL};
    struct str bar = table_text(waterfall, row, COMPARE_WATERFALL_BAR);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str name = table_text(waterfall, row, names[i]);
        if (name.len) {
            shown_put(out, name, MAX_NAME);
            return;
        }
    }
    fputs(str_starts_with(bar, STR("idle_")) ? "idle by " : "", out);
    shown_words(out, table_text(waterfall, row, COMPARE_WATERFALL_CATEGORY), MAX_NAME);
}

static void print_change(const struct table *waterfall, size_t row, FILE *out)
{
    print_figures(waterfall, row, out);
    print_name(waterfall, row, out);
    fputs("  ", out);
    shown_words(out, table_text(waterfall, row, COMPARE_WATERFALL_BAR), 20);
    fputs(", ", out);
    shown_put(out, table_text(waterfall, row, COMPARE_WATERFALL_VERDICT), 20);
    fputc('\n', out);
}

// Kernels of one side against graphs of the other that hide theirs are no changes.
static bool is_work_known(const struct gate_question *question)
{
    const struct table *summary;
    int64_t row = contributors_summary_row(&question->pair, &summary);
    return row < 0 || !table_cell(summary, (size_t)row, COMPARE_SUMMARY_SAME_WORK)->null;
}

static void print_changes(const struct gate_question *question, FILE *out)
{
    const struct table *waterfall = find(question, &table_compare_waterfall);
    struct changes changes = {.at = calloc(shown_rows(waterfall) + 1, sizeof *changes.at)};
    if (changes.at)
        collect(question, waterfall, &changes);
    if (changes.count)
        fputs("\nlargest changes\n        base  candidate     change\n", out);
    for (size_t i = 0; i < changes.count && i < MAX_CHANGES; i++)
        print_change(waterfall, changes.at[i].row, out);
    if (changes.count > MAX_CHANGES)
        fprintf(out, "  and %zu more; --format json has all\n", changes.count - MAX_CHANGES);
    if (changes.noise)
        fprintf(out, "%s%zu part%s changed within noise\n", changes.count ? "  " : "\n",
                changes.noise, shown_plural((int64_t)changes.noise));
    free(changes.at);
}

static void print_matched(const struct gate_question *question, FILE *out)
{
    const struct table *summary;
    int64_t first = contributors_summary_row(&question->pair, &summary);
    if (first < 0 || table_cell(summary, (size_t)first, COMPARE_SUMMARY_MATCHED_SHARE)->null)
        return;
    fprintf(out, "\n%.1f %% of the device time was matched by operator or kernel name\n",
            shown_percent(summary, (size_t)first, COMPARE_SUMMARY_MATCHED_SHARE));
}

void print_compare_text(const struct gate_question *question, const struct gate_answer *answer,
                        FILE *out)
{
    print_lines(answer, out);
    fputc('\n', out);
    print_runs(question, out);
    bool has_parts = isfinite(answer->judgement.base_ns) && isfinite(answer->judgement.cand_ns);
    if (has_parts) // a side without steps has none
        print_reasons(question, out);
    print_parity(question, out);
    print_settings(question, out);
    if (!has_parts)
        return;
    print_bars(question, out);
    if (is_work_known(question))
        print_changes(question, out);
    print_matched(question, out);
}

// --- for programs -------------------------------------------------------------------------------

static void put_json(const struct gate_question *question, const struct gate_answer *answer,
                     struct buf *out)
{
    buf_printf(out, "{\"result\":\"%s\",\"lines\":[", verdict_gate_word(answer->gate));
    for (int i = 0; i < GATE_LINES; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, str_of(answer->lines[i]));
    }
    buf_puts(out, "],\"judgement\":");
    gate_judgement_json(&answer->judgement, out);
    buf_puts(out, ",\"anytime\":");
    gate_anytime_json(question->limits.alpha, answer, out);
    buf_puts(out, ",\"max_regression\":");
    buf_f64(out, question->max_regression);
    buf_puts(out, ",\"thresholds\":");
    gate_limits_json(&question->limits, out);
    buf_puts(out, ",\"tables\":");
    report_json(question->pair.report, out);
    buf_puts(out, "}\n");
}

bool print_compare_json(const struct gate_question *question, const struct gate_answer *answer,
                        FILE *out, struct err *err)
{
    struct buf object = {0};
    put_json(question, answer, &object);
    bool ok = buf_ok(&object, err);
    if (ok && (fwrite(object.at, 1, object.len, out) != object.len || fflush(out) != 0))
        ok = err_set_errno(err, "writing the result");
    buf_free(&object);
    return ok;
}
