// SPDX-License-Identifier: Apache-2.0
// The verdict on two sides' step times, and the comparison in one row.
#include "analysis/compare/compare_pair.h"
#include "analysis/compare/compare_read.h"
#include "analysis/compare/compare_work.h"
#include "analysis/compare/reasons.h"
#include "analysis/compare/words.h"
#include "analysis/report/tables.h"
#include "analysis/stats/time_text.h"

#include <math.h>

#define MOST_NS      0x1p60 // shown for rounded figures
#define WELL_COVERED 0.9    // of the time; less is mentioned

static size_t read_medians(const struct compare_pool *pool, double *medians)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (pool->runs[i].median_ns > 0)
            medians[count++] = (double)pool->runs[i].median_ns * compare_pool_factor(pool);
    return count;
}

static int64_t rounded(double ns)
{
    return llround(fmin(fmax(ns, -MOST_NS), MOST_NS));
}

bool compare_summary_judge(struct pair *pair, struct err *err)
{
    double medians[SIDES][COMPARE_MAX_RUNS];
    struct samples samples[SIDES];
    for (int side = 0; side < SIDES; side++)
        samples[side] =
            (struct samples){medians[side], read_medians(pair->sides[side], medians[side])};
    const struct compare_side *base = pair->sides[BASE]->side;
    double *past = arena_array(pair->scratch, base->history_count + 1, sizeof *past, err);
    if (!past)
        return false;
    for (size_t i = 0; i < base->history_count; i++)
        past[i] = (double)base->history[i];
    const struct verdict_limits *limits = &pair->options->limits;
    const struct verdict_history history = {{past, base->history_count},
                                            pair->sides[CAND]->side->series};
    if (!verdict_judge(samples[BASE], samples[CAND], &history, limits, &pair->judged, err))
        return false;
    double from_ns = pair->judged.relevant_from_ns;
    pair->relevant_from_ns = rounded(isnan(from_ns) ? limits->relevant_ns : from_ns);
    return true;
}

// --- doubts -------------------------------------------------------------------------------------

static const char *who(bool base, bool cand)
{
    return base && cand ? "both sides" : base ? "the base" : "the candidate";
}

static void say_graphs(struct words *words, const struct pair *pair)
{
    bool base = pair->sides[BASE]->whole_graphs, cand = pair->sides[CAND]->whole_graphs;
    if (base || cand)
        words_say(words,
                  "%s recorded CUDA graphs as a whole, so kernels in them cannot be compared: "
                  "record with --cuda-graph-trace=node",
                  who(base, cand));
}

// The pattern as the settings have it: the reports of both sides may come from a store.
static void say_pattern(struct words *words, const struct pair *pair)
{
    bool base = pair->sides[BASE]->missed_steps, cand = pair->sides[CAND]->missed_steps;
    if (!base && !cand)
        return;
    struct str pattern = compare_pool_setting(&pair->sides[base ? BASE : CAND]->side->runs[0],
                                              STR("stepscope.step"));
    words_say(words, "%sno annotation of %s matches the step pattern", words->len ? "; " : "",
              base && cand ? "either side" : who(base, cand));
    if (pattern.len)
        words_say(words, " '%s'", reason_shown(pattern).text);
    words_say(words, ", so %s steps are not those asked for",
              base && cand ? "their"
              : base       ? "the base's"
                           : "the candidate's");
}

// --- the sentence -------------------------------------------------------------------------------

static void say_missing(struct words *words, const struct compare_pool *sides[SIDES])
{
    const char *who = sides[BASE]->step_ns < 0 && sides[CAND]->step_ns < 0 ? "both sides have"
                      : sides[BASE]->step_ns < 0                           ? "the base has"
                                                                           : "the candidate has";
    words_say(words, "%s no steps on a device, so there is nothing to compare", who);
}

static void say_work(struct words *words, const struct pair *pair, const struct compare_work *work)
{
    const struct side_work *base = &work->sides[BASE], *cand = &work->sides[CAND];
    const char *per_step = pair_per_step(pair);
    if (pair_hides_kernels(pair))
        return;
    if (work->is_same) {
        if (work->same_share < COMPARE_SAME_SHARE)
            words_say(words,
                      "hardly comparable part by part: operators, shapes and calls%s match in "
                      "%.0f %% of the device time, only model FLOPs%s agree; ",
                      per_step, 100 * work->same_share, per_step);
        return;
    }
    words_say(
        words,
        "different work, so neither side counts as faster: operators, shapes and calls%s match in "
        "%.0f %% of the device time",
        per_step, 100 * work->same_share);
    if (base->flops_per_step > 0 && cand->flops_per_step > 0)
        words_say(words, ", model FLOPs%s are %.3g and %.3g", per_step, base->flops_per_step,
                  cand->flops_per_step);
    words_say(words, "; ");
}

// What the figures of operations and precision leave out.
static void say_coverage(struct words *words, const struct compare_work *work)
{
    static const char *const names[SIDES] = {"the base", "the candidate"};
    for (int side = 0; side < SIDES; side++) {
        const struct side_work *one = &work->sides[side];
        if (one->flops_time_share < WELL_COVERED)
            words_say(words, "; FLOPs are known for %.0f %% of the matrix and attention time of %s",
                      100 * one->flops_time_share, names[side]);
        if (one->unknown_share > 1 - WELL_COVERED)
            words_say(words, "; precision is unknown for %.0f %% of the matrix products of %s",
                      100 * one->unknown_share, names[side]);
    }
}

static void say_steps(struct words *words, const struct pair *pair)
{
    int64_t base_ns = pair->sides[BASE]->step_ns, cand_ns = pair->sides[CAND]->step_ns;
    bool by_step = *pair_per_step(pair);
    words_say(words, "the candidate's %s %s%s%s, the base's %s",
              by_step ? "median step is" : "recording takes", time_text(cand_ns).text,
              pair->options->slowest ? " on the slowest rank" : "",
              pair->options->per_token ? " for the base's tokens" : "", time_text(base_ns).text);
}

// Of repeats the shift, which may go the other way than the medians of both sides: it is what the
// verdict is about.
static void say_difference(struct words *words, const struct pair *pair)
{
    const struct judgement *judged = &pair->judged;
    int64_t base_ns = pair->sides[BASE]->step_ns, cand_ns = pair->sides[CAND]->step_ns;
    bool repeats = judged->base_runs > 1 || judged->cand_runs > 1;
    double share = base_ns ? (double)(cand_ns - base_ns) / (double)base_ns : 0;
    if (repeats)
        share = judged->shift_share;
    words_say(words, "%s%.1f %% %s", repeats ? "; over all pairs of runs " : ": ",
              100 * fabs(share),
              share < 0   ? "shorter"
              : share > 0 ? "longer"
                          : "apart");
}

// A step against all that the other side recorded is hardly what was asked for.
static void say_unmarked(struct words *words, const struct compare_pool *sides[SIDES])
{
    if (sides[BASE]->no_steps != sides[CAND]->no_steps)
        words_say(words, "; no step of %s is marked, so its whole recording counts as one",
                  sides[BASE]->no_steps ? "the base" : "the candidate");
}

static void say_interval(struct words *words, const struct judgement *judged)
{
    if (judged->has_interval)
        words_say(words, "; the shift is between %+.2f %% and %+.2f %%", 100 * judged->low_share,
                  100 * judged->high_share);
}

static void say_unknown(struct words *words, const struct judgement *judged)
{
    if (judged->base_runs <= 1 && judged->cand_runs <= 1)
        words_say(words, "; with one run per side the noise between runs is unknown");
    else
        words_say(words, "; %zu and %zu runs are too few to tell it from noise", judged->base_runs,
                  judged->cand_runs);
    if (judged->base_missing || judged->cand_missing)
        words_say(words, " (%zu more of the base and %zu of the candidate would tell)",
                  judged->base_missing, judged->cand_missing);
}

static void say_series(struct words *words, const struct judgement *judged)
{
    words_say(words, "; more than noise: ");
    if (isnan(judged->p_value))
        words_say(words, "one of the two is an outlier among the runs of their series");
    else
        words_say(words, "the level of their series changed between them (p = %.3g)",
                  judged->p_value);
    if (!isnan(judged->threshold_share))
        words_say(words, ", whose runs differ by up to %.2f %%", 100 * judged->threshold_share);
}

static void say_verdict(struct words *words, const struct pair *pair)
{
    const struct judgement *judged = &pair->judged;
    if (judged->verdict == VERDICT_UNKNOWN) {
        say_unknown(words, judged);
        return;
    }
    bool significant = judged->verdict == VERDICT_SIGNIFICANT;
    if (strcmp(judged->method, "equal") == 0)
        words_say(words, "; both sides have the same times");
    else if (strcmp(judged->method, "series") == 0)
        say_series(words, judged);
    else if (strcmp(judged->method, "history") == 0)
        words_say(words, "; %s noise: runs of the series differ by up to %.2f %%",
                  significant ? "more than" : "within", 100 * judged->threshold_share);
    else
        words_say(words, "; %s over %zu and %zu runs (Mann-Whitney, p = %.3g)",
                  significant ? "significant" : "within noise", judged->base_runs,
                  judged->cand_runs, judged->p_value);
    say_interval(words, judged);
    if (significant && judged->relevant)
        words_say(words, "; relevant");
    else if (significant)
        words_say(words, "; too small to be relevant (below %s)",
                  time_text(pair->relevant_from_ns).text);
}

// --- the row ------------------------------------------------------------------------------------

static void add_interval(struct row *row, unsigned column, const struct compare_pool *pool)
{
    bool one = pool->count == 1;
    int64_t low_ns = compare_pool_scaled(pool, pool->runs[0].ci_low_ns);
    int64_t high_ns = compare_pool_scaled(pool, pool->runs[0].ci_high_ns);
    row_i64_if(row, column, one && low_ns >= 0, low_ns);
    row_i64_if(row, column + 1, one && high_ns >= 0, high_ns);
}

static void add_steps(struct row *row, const struct pair *pair, bool known, bool same_work)
{
    int64_t base_ns = pair->sides[BASE]->step_ns, cand_ns = pair->sides[CAND]->step_ns;
    row_i64_if(row, COMPARE_SUMMARY_BASE_STEP_NS, base_ns >= 0, base_ns);
    row_i64_if(row, COMPARE_SUMMARY_CAND_STEP_NS, cand_ns >= 0, cand_ns);
    row_i64_if(row, COMPARE_SUMMARY_DELTA_NS, known, cand_ns - base_ns);
    row_share(row, COMPARE_SUMMARY_DELTA_SHARE, cand_ns - base_ns, known ? base_ns : 0);
    add_interval(row, COMPARE_SUMMARY_BASE_CI_LOW_NS, pair->sides[BASE]);
    add_interval(row, COMPARE_SUMMARY_CAND_CI_LOW_NS, pair->sides[CAND]);
    row_share(row, COMPARE_SUMMARY_SPEEDUP, base_ns, known && same_work ? cand_ns : 0);
}

static void add_judgement(struct row *row, const struct pair *pair, bool known)
{
    const struct judgement *judged = &pair->judged;
    known = known && !isnan(judged->shift_share);
    row_i64_if(row, COMPARE_SUMMARY_SHIFT_NS, known && !isnan(judged->shift_ns),
               known ? rounded(judged->shift_ns) : 0);
    row_f64_if(row, COMPARE_SUMMARY_SHIFT_SHARE, known, judged->shift_share);
    row_f64_if(row, COMPARE_SUMMARY_SHIFT_LOW_SHARE, known && judged->has_interval,
               judged->low_share);
    row_f64_if(row, COMPARE_SUMMARY_SHIFT_HIGH_SHARE, known && judged->has_interval,
               judged->high_share);
    row_f64(row, COMPARE_SUMMARY_P_VALUE, judged->p_value);
    row_word(row, COMPARE_SUMMARY_METHOD, judged->method);
    row_bool(row, COMPARE_SUMMARY_RELEVANT, judged->relevant);
    row_i64(row, COMPARE_SUMMARY_RELEVANT_FROM_NS, pair->relevant_from_ns);
    row_f64(row, COMPARE_SUMMARY_THRESHOLD_SHARE, judged->threshold_share);
}

// Six shares of the device time, null without any.
static void add_rungs(struct row *row, const double matched[RUNG_COUNT])
{
    double all = 0;
    for (int r = 0; r < RUNG_COUNT; r++)
        all += matched[r];
    for (int r = 0; r < RUNG_COUNT; r++)
        row_f64_if(row, COMPARE_SUMMARY_MATCHED_MODULE_SHARE + r, all > 0,
                   all > 0 ? matched[r] / all : 0);
}

static void add_work(struct row *row, const struct compare_work *work, bool known)
{
    row_f64(row, COMPARE_SUMMARY_SAME_WORK_SHARE, known ? work->same_share : NAN);
    row_bool_if(row, COMPARE_SUMMARY_SAME_WORK, known, work->is_same);
    for (int side = 0; side < SIDES; side++)
        row_f64(row, COMPARE_SUMMARY_BASE_FLOPS_PER_STEP + side, work->sides[side].flops_per_step);
    for (int side = 0; side < SIDES; side++)
        row_f64(row, COMPARE_SUMMARY_BASE_FLOPS_TIME_SHARE + side,
                work->sides[side].flops_time_share);
    for (int side = 0; side < SIDES; side++)
        row_f64(row, COMPARE_SUMMARY_BASE_UNKNOWN_PRECISION_SHARE + side,
                work->sides[side].unknown_share);
}

static double matched_share(const double matched[RUNG_COUNT])
{
    double named =
        matched[RUNG_MODULE] + matched[RUNG_SHAPE] + matched[RUNG_OP] + matched[RUNG_KERNEL];
    double all = named + matched[RUNG_CATEGORY] + matched[RUNG_UNMATCHED];
    return all > 0 ? named / all : 0;
}

// The difference of the medians minus that of the means.
static int64_t bridge_ns(const struct compare_pool *base, const struct compare_pool *cand)
{
    return (cand->step_ns - cand->mean_ns) - (base->step_ns - base->mean_ns);
}

bool compare_summary_write(const struct pair *pair, const double matched[RUNG_COUNT],
                           struct err *err)
{
    const struct compare_pool *base = pair->sides[BASE], *cand = pair->sides[CAND];
    bool known = base->step_ns >= 0 && cand->step_ns >= 0;
    struct words words = {.len = 0}, doubts = {.len = 0};
    struct compare_work work;
    if (!compare_work_read(pair, &work, err))
        return false;
    say_graphs(&doubts, pair);
    say_pattern(&doubts, pair);
    if (known) {
        if (doubts.len)
            words_say(&words, "%.*s; ", (int)doubts.len, doubts.text);
        say_work(&words, pair, &work);
        say_steps(&words, pair);
        say_difference(&words, pair);
        say_unmarked(&words, (const struct compare_pool *[]){base, cand});
        compare_read_say(base->side, cand->side, &words);
        say_verdict(&words, pair);
        say_coverage(&words, &work);
    } else {
        say_missing(&words, (const struct compare_pool *[]){base, cand});
    }
    struct row row = {.desc = &table_compare_summary};
    row_i64(&row, COMPARE_SUMMARY_CAND, pair->number);
    add_steps(&row, pair, known, work.is_same && !pair_hides_kernels(pair));
    row_word(&row, COMPARE_SUMMARY_VERDICT, verdict_word(pair->judged.verdict));
    row_text(&row, COMPARE_SUMMARY_VERDICT_TEXT, words_str(&words));
    row_text_if(&row, COMPARE_SUMMARY_DOUBTS, doubts.len, words_str(&doubts));
    row_i64(&row, COMPARE_SUMMARY_BASE_STEPS, base->steps);
    row_i64(&row, COMPARE_SUMMARY_CAND_STEPS, cand->steps);
    row_bool(&row, COMPARE_SUMMARY_BASE_NO_STEPS, base->no_steps);
    row_bool(&row, COMPARE_SUMMARY_CAND_NO_STEPS, cand->no_steps);
    row_i64(&row, COMPARE_SUMMARY_BASE_MEAN_NS, base->mean_ns);
    row_i64(&row, COMPARE_SUMMARY_CAND_MEAN_NS, cand->mean_ns);
    row_i64(&row, COMPARE_SUMMARY_DELTA_MEAN_NS, cand->mean_ns - base->mean_ns);
    row_f64(&row, COMPARE_SUMMARY_MATCHED_SHARE, matched_share(matched));
    row_i64(&row, COMPARE_SUMMARY_BASE_RUNS, (int64_t)base->count);
    row_i64(&row, COMPARE_SUMMARY_CAND_RUNS, (int64_t)cand->count);
    add_judgement(&row, pair, known);
    row_i64_if(&row, COMPARE_SUMMARY_BASE_TOKENS, base->tokens != 0, base->tokens);
    row_i64_if(&row, COMPARE_SUMMARY_CAND_TOKENS, cand->tokens != 0, cand->tokens);
    add_rungs(&row, matched);
    row_i64_if(&row, COMPARE_SUMMARY_BRIDGE_NS, known, known ? bridge_ns(base, cand) : 0);
    add_work(&row, &work, !pair_hides_kernels(pair));
    return row_end(&row, pair->report, err);
}
