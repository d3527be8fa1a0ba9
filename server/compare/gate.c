// SPDX-License-Identifier: Apache-2.0
// Words for a gate's decision. The figures come from the comparison's row.
#include "server/compare/gate.h"

#include "analysis/compare/compare_read.h"
#include "analysis/report/tables.h"
#include "analysis/stats/time_text.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_NAME_BYTES = 60, MAX_CONTRIBUTORS = 3, MAX_SETTINGS = 4, MAX_DOUBTS_BYTES = 400 };

// A side's name: its run's, or the name and the number of runs. Clean.
static const char *side_name(const struct compare_side *side, struct arena *arena)
{
    const char *name = contributors_clean(side->runs[0].name, MAX_NAME_BYTES, arena);
    const char *both = name;
    if (side->run_count > 1)
        both = arena_printf(arena, NULL, "%s and %zu more run%s", name, side->run_count - 1,
                            side->run_count > 2 ? "s" : "");
    return both ? both : name;
}

// --- the judgement ------------------------------------------------------------------------------

// The medians of a side's runs.
static size_t read_medians(const struct report *report, int64_t cand, double *medians)
{
    const struct table *runs = report_find(report, table_compare_runs.name);
    size_t count = 0;
    for (size_t row = 0; runs && row < runs->row_count && count < COMPARE_MAX_RUNS; row++) {
        const struct cell *median = table_cell(runs, row, COMPARE_RUNS_STEP_MEDIAN_NS);
        if (table_cell(runs, row, COMPARE_RUNS_CAND)->i == cand && !median->null)
            medians[count++] = (double)median->i;
    }
    return count;
}

// The medians of both sides, and what can be said from them alone.
struct gate_runs {
    double medians[2][COMPARE_MAX_RUNS];
    size_t counts[2];
    struct judgement judged;
};

static bool judge_runs(const struct gate_question *question, struct gate_runs *runs,
                       struct err *err)
{
    const int64_t sides[2] = {0, question->pair.cand};
    struct samples both[2];
    for (int side = 0; side < 2; side++) {
        runs->counts[side] = read_medians(question->pair.report, sides[side], runs->medians[side]);
        both[side] = (struct samples){runs->medians[side], runs->counts[side]};
    }
    const struct verdict_history none = {0};
    return verdict_judge(both[0], both[1], &none, &question->limits, &runs->judged, err);
}

static enum verdict verdict_of(struct str word)
{
    for (int i = VERDICT_UNKNOWN; i < VERDICT_SIGNIFICANT; i++)
        if (str_equal(word, str_of(verdict_word((enum verdict)i))))
            return (enum verdict)i;
    return VERDICT_SIGNIFICANT;
}

static const char *method_of(struct str word)
{
    static const char *const methods[] = {"equal", "mann_whitney", "history", "series"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (str_equal(word, str_of(methods[i])))
            return methods[i];
    return "none";
}

// As judged by the comparison, which may have scaled the candidate and used the history.
static void take_summary(const struct table *summary, size_t row, struct judgement *judgement)
{
    const struct cell *relevant = table_cell(summary, row, COMPARE_SUMMARY_RELEVANT);
    judgement->verdict = verdict_of(table_cell(summary, row, COMPARE_SUMMARY_VERDICT)->s);
    judgement->method = method_of(table_cell(summary, row, COMPARE_SUMMARY_METHOD)->s);
    judgement->relevant = !relevant->null && relevant->i;
    judgement->base_ns = table_number(summary, row, COMPARE_SUMMARY_BASE_STEP_NS, NAN);
    judgement->cand_ns = table_number(summary, row, COMPARE_SUMMARY_CAND_STEP_NS, NAN);
    judgement->shift_ns = table_number(summary, row, COMPARE_SUMMARY_SHIFT_NS, NAN);
    judgement->shift_share = table_f64(summary, row, COMPARE_SUMMARY_SHIFT_SHARE, NAN);
    judgement->low_share = table_f64(summary, row, COMPARE_SUMMARY_SHIFT_LOW_SHARE, NAN);
    judgement->high_share = table_f64(summary, row, COMPARE_SUMMARY_SHIFT_HIGH_SHARE, NAN);
    judgement->has_interval = !isnan(judgement->low_share) && !isnan(judgement->high_share);
    judgement->p_value = table_f64(summary, row, COMPARE_SUMMARY_P_VALUE, NAN);
    judgement->threshold_share = table_f64(summary, row, COMPARE_SUMMARY_THRESHOLD_SHARE, NAN);
    judgement->relevant_from_ns = table_number(summary, row, COMPARE_SUMMARY_RELEVANT_FROM_NS, NAN);
    if (judgement->verdict != VERDICT_UNKNOWN)
        judgement->base_missing = judgement->cand_missing = 0;
}

// The factor by which the comparison scaled the candidate's times, as a logarithm.
static double scale_of(const struct gate_runs *runs, const struct judgement *judgement)
{
    double scale = log1p(judgement->shift_share) - log1p(runs->judged.shift_share);
    return isfinite(scale) ? scale : 0;
}

static void take_bound(const struct gate_runs *runs, struct judgement *judgement)
{
    bool is_test = strcmp(judgement->method, "mann_whitney") == 0;
    double bound = log1p(runs->judged.bound_share) + scale_of(runs, judgement);
    judgement->bound_share = is_test ? expm1(bound) : judgement->high_share;
}

// Logarithms in place.
static struct anytime judge_anytime(const struct gate_question *question, struct gate_runs *runs,
                                    const struct judgement *judgement)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < runs->counts[side]; i++)
            runs->medians[side][i] = log(runs->medians[side][i]);
    double limit = log1p(question->max_regression) - scale_of(runs, judgement);
    return anytime_judge((struct samples){runs->medians[0], runs->counts[0]},
                         (struct samples){runs->medians[1], runs->counts[1]}, limit,
                         question->limits.alpha);
}

static enum gate gate_of(enum anytime_result result)
{
    switch (result) {
    case ANYTIME_BELOW: return GATE_PASS;
    case ANYTIME_ABOVE: return GATE_FAIL;
    case ANYTIME_UNDECIDED: break;
    }
    return GATE_UNDECIDED;
}

static void number_json(const char *name, double value, struct buf *out)
{
    buf_printf(out, ",\"%s\":", name);
    buf_f64(out, value);
}

void gate_judgement_json(const struct judgement *judgement, struct buf *out)
{
    buf_printf(out, "{\"verdict\":\"%s\",\"relevant\":%s,\"method\":\"%s\"",
               verdict_word(judgement->verdict), judgement->relevant ? "true" : "false",
               judgement->method);
    number_json("base_ns", judgement->base_ns, out);
    number_json("cand_ns", judgement->cand_ns, out);
    number_json("shift_ns", judgement->shift_ns, out);
    number_json("shift_share", judgement->shift_share, out);
    number_json("low_share", judgement->has_interval ? judgement->low_share : NAN, out);
    number_json("high_share", judgement->has_interval ? judgement->high_share : NAN, out);
    number_json("bound_share", judgement->bound_share, out);
    number_json("p_value", judgement->p_value, out);
    number_json("threshold_share", judgement->threshold_share, out);
    number_json("relevant_from_ns", judgement->relevant_from_ns, out);
    buf_printf(out,
               ",\"base_runs\":%zu,\"cand_runs\":%zu,\"base_missing\":%zu,\"cand_missing\":%zu}",
               judgement->base_runs, judgement->cand_runs, judgement->base_missing,
               judgement->cand_missing);
}

void gate_anytime_json(double alpha, const struct gate_answer *answer, struct buf *out)
{
    const struct anytime *anytime = &answer->anytime;
    buf_printf(out, "{\"result\":\"%s\"", verdict_gate_word(gate_of(anytime->result)));
    number_json("pass_evidence", anytime->below_evidence, out);
    number_json("fail_evidence", anytime->above_evidence, out);
    number_json("decides_from", 1 / alpha, out);
    number_json("more_pairs", anytime->has_forecast ? (double)anytime->more_pairs : NAN, out);
    buf_putc(out, '}');
}

void gate_limits_json(const struct verdict_limits *limits, struct buf *out)
{
    buf_puts(out, "{\"alpha\":");
    buf_f64(out, limits->alpha);
    buf_puts(out, ",\"relevant_share\":");
    buf_f64(out, limits->relevant_share);
    buf_puts(out, ",\"relevant_ns\":");
    buf_f64(out, limits->relevant_ns);
    buf_putc(out, '}');
}

// --- line 1: the verdict ------------------------------------------------------------------------

static bool has_steps(const struct judgement *judgement)
{
    return isfinite(judgement->base_ns) && isfinite(judgement->cand_ns) &&
           isfinite(judgement->shift_share);
}

static void put_percent(struct buf *out, double share)
{
    double percent = 100 * share;
    buf_printf(out, "%.*f %%", fabs(percent) < 0.095 ? 2 : 1, percent);
}

static void put_signed_percent(struct buf *out, double share)
{
    buf_puts(out, share > 0 ? "+" : "");
    put_percent(out, share);
}

static void put_signed_time(struct buf *out, int64_t ns)
{
    buf_printf(out, "%s%s", ns > 0 ? "+" : "", time_text(ns).text);
}

// Of repeats the medians are no evidence of the direction: the shift is that of all pairs of runs.
static void put_times(const struct judgement *judgement, struct buf *out)
{
    bool repeats = judgement->base_runs > 1 || judgement->cand_runs > 1;
    buf_printf(out, repeats ? " over all pairs of runs (medians %s and %s)" : " (%s against %s)",
               time_text(llround(judgement->cand_ns)).text,
               time_text(llround(judgement->base_ns)).text);
}

// "a step of pr takes 4.1 % longer than one of main (533 ms against 512 ms)", of recordings without
// steps "the recording of pr takes 4.1 % longer than that of main (...)"
static void put_shift(const struct gate_question *question, const struct judgement *judgement,
                      struct arena *arena, struct buf *out)
{
    const char *base = side_name(question->pair.base, arena);
    const char *cand = side_name(question->pair.side, arena);
    double share = judgement->shift_share;
    bool whole = contributors_whole(&question->pair);
    buf_printf(out, "%s%s of %s takes ",
               question->pair.per_token ? "for the same number of tokens " : "",
               whole ? "the recording" : "a step", cand);
    if (fabs(share) > 0)
        put_percent(out, fabs(share));
    buf_printf(out, "%s than %s of %s",
               share > 0   ? " longer"
               : share < 0 ? " less"
                           : "no longer",
               whole ? "that" : "one", base);
    put_times(judgement, out);
}

static void put_interval(const struct gate_question *question, const struct gate_answer *answer,
                         struct buf *out)
{
    const struct judgement *judgement = &answer->judgement;
    if (strcmp(judgement->method, "history") == 0 || strcmp(judgement->method, "series") == 0)
        buf_puts(out, ", with the usual noise of the series ");
    else
        buf_printf(out, ", with %g %% confidence ", 100 * (1 - question->limits.alpha));
    if (answer->gate == GATE_PASS && judgement->bound_share < judgement->high_share) {
        buf_puts(out, "at most ");
        put_signed_percent(out, judgement->bound_share);
        return;
    }
    put_signed_percent(out, judgement->low_share);
    buf_puts(out, " to ");
    put_signed_percent(out, judgement->high_share);
}

static void put_limit(const struct gate_question *question, const struct gate_answer *answer,
                      struct buf *out)
{
    const struct judgement *judgement = &answer->judgement;
    if (question->sequential)
        buf_puts(out, ", by the sequential test");
    else if (judgement->has_interval && strcmp(judgement->method, "equal") != 0)
        put_interval(question, answer, out);
    buf_puts(out, "; the limit is ");
    put_signed_percent(out, question->max_regression);
    if (answer->gate == GATE_UNDECIDED)
        buf_puts(out, question->sequential ? ", and the evidence is not sufficient yet"
                      : judgement->verdict == VERDICT_UNKNOWN
                          ? ", and the noise between runs is unknown"
                          : ", which is within noise");
}

// What keeps the sides from being compared as asked comes before what their times say.
static void put_doubts(const struct gate_question *question, struct arena *arena, struct buf *out)
{
    struct str doubts = contributors_doubts(&question->pair);
    if (doubts.len)
        buf_printf(out, "%s; ", contributors_clean(doubts, MAX_DOUBTS_BYTES, arena));
}

static void put_verdict(const struct gate_question *question, const struct gate_answer *answer,
                        struct arena *arena, struct buf *out)
{
    const struct judgement *judgement = &answer->judgement;
    buf_printf(out, "%s: ", verdict_gate_word(answer->gate));
    put_doubts(question, arena, out);
    if (has_steps(judgement)) {
        put_shift(question, judgement, arena, out);
        put_limit(question, answer, out);
        return;
    }
    bool base = !isfinite(judgement->base_ns), cand = !isfinite(judgement->cand_ns);
    buf_printf(out, "%s no steady steps on a device, so there is nothing to compare",
               base && cand ? "both sides have"
               : base       ? "the base has"
                            : "the candidate has");
}

// --- line 2: why --------------------------------------------------------------------------------

static const char *reason_word(const struct judgement *judgement)
{
    switch (judgement->verdict) {
    case VERDICT_SIGNIFICANT: return "why: ";
    case VERDICT_NOISE: return "why: within noise; the largest parts of the difference are ";
    case VERDICT_UNKNOWN: break;
    }
    return "why: noise or not, the largest parts of the difference are ";
}

// "aten::mm +14.5 ms (69 % of the mean step's +21.0 ms)"; of: what the times are of, in the first,
// else NULL.
static void put_contributor(const struct contributor *one, int64_t whole_ns, const char *of,
                            struct buf *out)
{
    buf_printf(out, "%s%s ", of ? "" : ", ", one->name);
    put_signed_time(out, one->delta_ns);
    if (whole_ns == 0)
        return;
    buf_printf(out, " (%.0f %%", 100 * (double)one->delta_ns / (double)whole_ns);
    if (of) {
        buf_printf(out, " of the %s's ", of);
        put_signed_time(out, whole_ns);
    }
    buf_putc(out, ')');
}

// Parts in the direction of the whole difference, of at least a hundredth of it; all, if there is
// no difference.
static bool is_reason(const struct contributors *all, const struct contributor *one)
{
    return all->whole_ns == 0 || (double)one->delta_ns / (double)all->whole_ns >= 0.01;
}

// If the reasons listed clearly exceed the whole, adds the largest in the opposite direction.
static void put_opposite(const struct contributors *all, int64_t named_ns, struct buf *out)
{
    if (fabs((double)named_ns) <= 1.05 * fabs((double)all->whole_ns) || all->whole_ns == 0)
        return;
    for (size_t i = 0; i < all->count; i++)
        if ((all->at[i].delta_ns > 0) != (all->whole_ns > 0)) {
            buf_printf(out, "; against that %s ", all->at[i].name);
            put_signed_time(out, all->at[i].delta_ns);
            return;
        }
}

static bool put_reasons(const struct gate_question *question, const struct gate_answer *answer,
                        struct arena *arena, struct buf *out, struct err *err)
{
    struct contributors all;
    size_t count = 0;
    int64_t named_ns = 0;
    const struct contributor *first = NULL;
    const char *of = contributors_sum_word(&question->pair);
    if (!has_steps(&answer->judgement)) {
        buf_puts(out, "why: without steady steps the parts of a step are unknown");
        return true;
    }
    if (!contributors_find(&question->pair, arena, &all, err))
        return false;
    for (size_t i = 0; i < all.count && count < MAX_CONTRIBUTORS; i++) {
        if (!is_reason(&all, &all.at[i]))
            continue;
        buf_puts(out, count ? "" : reason_word(&answer->judgement));
        first = first ? first : &all.at[i];
        put_contributor(&all.at[i], all.whole_ns, count++ ? NULL : of, out);
        named_ns += all.at[i].delta_ns;
    }
    if (first) {
        put_opposite(&all, named_ns, out);
        if (*first->why)
            buf_printf(out, ". %s: %s", first->name, first->why);
        return true;
    }
    buf_puts(out, all.count ? "why: many small parts, none above 1 % of the difference"
                            : "why: no operator, collective or cause of idle time changed by "
                              "1 us or more");
    return true;
}

// --- line 3: evidence, and what to do -----------------------------------------------------------

static void put_runs(const struct judgement *judgement, struct buf *out)
{
    size_t base = judgement->base_runs, cand = judgement->cand_runs;
    if (base == cand)
        buf_printf(out, "%zu run%s per side", base, base == 1 ? "" : "s");
    else
        buf_printf(out, "%zu run%s of the base, %zu of the candidate", base, base == 1 ? "" : "s",
                   cand);
}

static void put_evidence(const struct gate_question *question, const struct judgement *judgement,
                         struct buf *out)
{
    bool is_unknown = judgement->verdict == VERDICT_UNKNOWN;
    buf_puts(out, is_unknown ? "noise unknown: " : "evidence: ");
    put_runs(judgement, out);
    if (strcmp(judgement->method, "equal") == 0) {
        buf_puts(out, ", all with the same step times");
    } else if (strcmp(judgement->method, "mann_whitney") == 0) {
        buf_printf(out, ", exact Mann-Whitney p = %.2g (significant up to %g)", judgement->p_value,
                   question->limits.alpha);
    } else if (strcmp(judgement->method, "history") == 0) {
        buf_printf(out, ", against %zu runs of the base's series, which differ by up to ",
                   question->pair.side->series.known ? question->pair.side->series.runs
                                                     : question->pair.base->history_count);
        put_percent(out, judgement->threshold_share);
        buf_puts(out, " from one to the next without a cause");
    } else if (strcmp(judgement->method, "series") == 0) {
        buf_puts(out, isnan(judgement->p_value)
                          ? ", one of which is an outlier in its series"
                          : ", between which the level of their series changed");
    } else if (!question->of_files) {
        buf_printf(out, ", %zu of 8 %sruns in the base's series",
                   question->pair.base->history_count, judgement->base_runs > 1 ? "" : "earlier ");
    }
    if (question->base_note)
        buf_printf(out, "; %s", question->base_note);
}

static void put_work(const struct table *summary, size_t row, struct buf *out)
{
    const struct cell *same = table_cell(summary, row, COMPARE_SUMMARY_SAME_WORK);
    double share = table_f64(summary, row, COMPARE_SUMMARY_SAME_WORK_SHARE, NAN);
    if (same->null || same->i)
        return;
    buf_puts(out, "; the sides did different work: operators, shapes and calls match in ");
    put_percent(out, share);
    buf_puts(out, " of the device time");
}

// A step against all that the other side recorded is hardly what was asked for.
static void put_unmarked(const struct gate_question *question, struct buf *out)
{
    bool base = contributors_no_steps(&question->pair, false);
    if (base != contributors_no_steps(&question->pair, true))
        buf_printf(out, "; no step of the %s is marked, so its whole recording counts as one",
                   base ? "base" : "candidate");
}

static void put_reading(const struct gate_question *question, struct buf *out)
{
    struct words words = {.len = 0};
    compare_read_say(question->pair.base, question->pair.side, &words);
    buf_add_str(out, words_str(&words));
}

// For reading the gate again after the next run.
static void put_anytime(const struct gate_question *question, const struct gate_answer *answer,
                        struct buf *out)
{
    const struct anytime *anytime = &answer->anytime;
    bool is_judged = answer->judgement.verdict != VERDICT_UNKNOWN; // otherwise other runs are
                                                                   // requested
    bool is_open = answer->gate == GATE_UNDECIDED && is_judged;
    if (isnan(anytime->below_evidence) || !(question->sequential || is_open))
        return;
    buf_printf(out, "; sequential test: %s, evidence %.2g for pass and %.2g for fail, %g decides",
               verdict_gate_word(gate_of(anytime->result)), anytime->below_evidence,
               anytime->above_evidence, 1 / question->limits.alpha);
    if (anytime->result != ANYTIME_UNDECIDED)
        return;
    if (anytime->has_forecast)
        buf_printf(out, ", expected with %zu more run%s of each side", anytime->more_pairs,
                   anytime->more_pairs == 1 ? "" : "s");
    else
        buf_printf(out, ", not expected within %d more runs of each side", ANYTIME_MOST_PAIRS);
}

// A run's name up to '@'.
static const char *series_name(const struct compare_side *side, struct arena *arena)
{
    struct str name = side->runs[0].name;
    size_t at = str_find(name, STR("@"));
    if (at != SIZE_MAX && at > 0)
        name.len = at;
    return contributors_clean(name, MAX_NAME_BYTES, arena);
}

static void put_repeats(size_t missing, const char *side, const char *series, struct buf *out)
{
    if (missing == 0)
        return;
    buf_printf(out, "%zu more repeat%s of the %s", missing, missing == 1 ? "" : "s", side);
    if (series)
        buf_printf(out, ", each as a new %s@N,", series);
}

// For sides in one series, @* would stand for both.
static void put_missing_uploads(const struct gate_question *question,
                                const struct judgement *judgement, struct arena *arena,
                                struct buf *out)
{
    const char *base = series_name(question->pair.base, arena);
    const char *cand = series_name(question->pair.side, arena);
    bool same = strcmp(base, cand) == 0;
    buf_puts(out, "; upload ");
    put_repeats(judgement->base_missing, "base", same ? NULL : base, out);
    buf_puts(out, judgement->base_missing && judgement->cand_missing ? " and " : "");
    put_repeats(judgement->cand_missing, "candidate", same ? NULL : cand, out);
    if (same)
        buf_puts(out, ", and ask with the names of each side's runs joined by commas");
    else
        buf_printf(out, " and ask with base=%s@* and cand=%s@*", base, cand);
}

static void put_advice(const struct gate_question *question, const struct gate_answer *answer,
                       struct arena *arena, struct buf *out)
{
    const struct judgement *judgement = &answer->judgement;
    bool is_missing = judgement->base_missing || judgement->cand_missing;
    if (!has_steps(judgement))
        buf_puts(out, "; record steps (/docs/recording) and look at both runs' trust reports");
    else if (question->sequential && !isnan(answer->anytime.below_evidence))
        return;
    else if (judgement->verdict == VERDICT_UNKNOWN && is_missing && question->of_files)
        buf_printf(out, "; give %zu more repeats of the base and %zu of the candidate, as A,B,...",
                   judgement->base_missing, judgement->cand_missing);
    else if (judgement->verdict == VERDICT_UNKNOWN && is_missing)
        put_missing_uploads(question, judgement, arena, out);
    else if (answer->gate == GATE_UNDECIDED && isnan(answer->anytime.below_evidence))
        buf_puts(out, "; more repeats of both sides narrow the interval");
    else if (answer->gate == GATE_FAIL && !question->of_files)
        buf_puts(out, "; the page shows every part; if the change is meant, pin the candidate as "
                      "the new baseline");
}

static void put_settings(const struct gate_question *question, struct arena *arena, struct buf *out)
{
    const struct table *settings = report_find(question->pair.report, table_compare_settings.name);
    size_t count = 0;
    for (size_t row = 0; settings && row < settings->row_count; row++) {
        if (table_cell(settings, row, COMPARE_SETTINGS_CAND)->i != question->pair.cand ||
            !table_cell(settings, row, COMPARE_SETTINGS_DIFFERS)->i)
            continue;
        if (count++ < MAX_SETTINGS)
            buf_printf(out, "%s%s", count == 1 ? "; settings that differ: " : ", ",
                       contributors_clean(table_cell(settings, row, COMPARE_SETTINGS_KEY)->s,
                                          MAX_NAME_BYTES, arena));
    }
    if (count > MAX_SETTINGS)
        buf_printf(out, " and %zu more", count - MAX_SETTINGS);
}

// --- all together -------------------------------------------------------------------------------

static bool end_line(struct buf *line, struct arena *arena, const char **text, struct err *err)
{
    if (!buf_ok(line, err))
        return false;
    *text = arena_strdup(arena, (struct str){line->at, line->len}, err);
    buf_clear(line);
    return *text != NULL;
}

static bool put_lines(const struct gate_question *question, struct arena *arena, struct buf *line,
                      struct gate_answer *answer, struct err *err)
{
    put_verdict(question, answer, arena, line);
    if (!end_line(line, arena, &answer->lines[0], err) ||
        !put_reasons(question, answer, arena, line, err) ||
        !end_line(line, arena, &answer->lines[1], err))
        return false;
    put_evidence(question, &answer->judgement, line);
    const struct table *summary;
    int64_t row = contributors_summary_row(&question->pair, &summary);
    if (row >= 0)
        put_work(summary, (size_t)row, line);
    if (answer->has_steps) {
        put_unmarked(question, line);
        put_reading(question, line);
    }
    put_anytime(question, answer, line);
    put_settings(question, arena, line);
    put_advice(question, answer, arena, line);
    return end_line(line, arena, &answer->lines[2], err);
}

bool gate_answer(const struct gate_question *question, struct arena *arena,
                 struct gate_answer *answer, struct err *err)
{
    const struct table *summary;
    struct buf line = {0};
    *answer = (struct gate_answer){0};
    struct gate_runs runs;
    if (!judge_runs(question, &runs, err))
        return false;
    answer->judgement = runs.judged;
    int64_t row = contributors_summary_row(&question->pair, &summary);
    if (row >= 0)
        take_summary(summary, (size_t)row, &answer->judgement);
    take_bound(&runs, &answer->judgement);
    answer->anytime = judge_anytime(question, &runs, &answer->judgement);
    answer->gate = question->sequential
                       ? gate_of(answer->anytime.result)
                       : verdict_gate(&answer->judgement, question->max_regression);
    answer->has_steps = has_steps(&answer->judgement);
    bool ok = put_lines(question, arena, &line, answer, err);
    buf_free(&line);
    return ok;
}
