// SPDX-License-Identifier: Apache-2.0
// A gate on a figure of runs, such as MFU, judged like step times: more is worse.
#include "server/base/number_text.h"
#include "server/compare/gate.h"

#include <math.h>
#include <string.h>

// Figures of which more is better become their inverse.
static bool as_times(const struct gate_metric *question, int side, struct arena *arena,
                     struct samples *samples, struct err *err)
{
    size_t count = question->counts[side];
    double *values = arena_array(arena, count + 1, sizeof *values, err);
    for (size_t i = 0; values && i < count; i++) {
        double value = question->values[side][i];
        values[i] = question->figure->more_is_better ? 1 / value : value;
    }
    *samples = (struct samples){values, count};
    return values;
}

// Runs of a side whose value has no share.
static size_t count_zeros(const struct gate_metric *question, int side)
{
    size_t zeros = 0;
    for (size_t i = 0; i < question->counts[side]; i++)
        zeros += isfinite(question->values[side][i]) && question->values[side][i] <= 0;
    return zeros;
}

static bool has_zeros(const struct gate_metric *question)
{
    return count_zeros(question, 0) || count_zeros(question, 1);
}

static void put_zeros(const struct gate_metric *question, struct buf *out)
{
    int side = count_zeros(question, 0) ? 0 : 1;
    size_t zeros = count_zeros(question, side);
    buf_printf(out, "%s is 0 in %zu run%s of the %s; a share of it cannot be judged",
               question->figure->label, zeros, zeros == 1 ? "" : "s", side ? "candidate" : "base");
}

static bool have_two_sources(const struct gate_metric *question)
{
    return question->sources[0].len && question->sources[1].len &&
           !str_equal(question->sources[0], question->sources[1]);
}

static void put_sources(const struct gate_metric *question, struct buf *out)
{
    buf_printf(out, "%s of %s is from the ", question->figure->label, question->names[1]);
    buf_add_str(out, question->sources[1]);
    buf_printf(out, ", that of %s from the ", question->names[0]);
    buf_add_str(out, question->sources[0]);
    buf_puts(out, ", which may measure it differently, so there is nothing to compare");
}

// How much worse a figure is, as a share of the base's, from the share of its inverse.
static double own_share(const struct gate_metric *question, double share)
{
    return question->figure->more_is_better ? share / (1 + share) : share;
}

// The limit as the judgement sees it, where more is worse.
static double limit_of(const struct gate_metric *question)
{
    double limit = question->max_regression;
    return question->figure->more_is_better && limit < 1 ? limit / (1 - limit) : limit;
}

static void take_medians(struct gate_metric *question, const struct judgement *judgement)
{
    const double found[2] = {judgement->base_ns, judgement->cand_ns};
    for (int side = 0; side < 2; side++)
        question->medians[side] = question->figure->more_is_better ? 1 / found[side] : found[side];
}

// A pass is by the one-sided bound, where that is nearer than the interval's end.
static void put_interval(const struct gate_metric *question, const struct gate_answer *answer,
                         struct buf *out)
{
    const struct judgement *judgement = &answer->judgement;
    buf_printf(out, ", with %g %% confidence ", 100 * (1 - question->limits.alpha));
    if (answer->gate == GATE_PASS && judgement->bound_share < judgement->high_share)
        buf_printf(out, "at most %+.1f %% worse",
                   100 * own_share(question, judgement->bound_share));
    else
        buf_printf(out, "%+.1f %% to %+.1f %% worse",
                   100 * own_share(question, judgement->low_share),
                   100 * own_share(question, judgement->high_share));
}

// As in the sentence about steps: "MFU of pr is 4.0 % worse than that of main (48.1 % against
// 50.1 %)".
static void put_values(const struct gate_metric *question, const struct judgement *judgement,
                       struct buf *out)
{
    bool repeats = judgement->base_runs > 1 || judgement->cand_runs > 1;
    double share = own_share(question, judgement->shift_share);
    buf_printf(out, "%s of %s is ", question->figure->label, question->names[1]);
    if (fabs(share) > 0)
        buf_printf(out, "%.1f %% ", 100 * fabs(share));
    buf_printf(out, "%s that of %s%s",
               share > 0   ? "worse than"
               : share < 0 ? "better than"
                           : "the same as",
               question->names[0], repeats ? " over all pairs of runs (medians " : " (");
    number_text_add(question->medians[1], question->figure->unit, out);
    buf_puts(out, repeats ? " and " : " against ");
    number_text_add(question->medians[0], question->figure->unit, out);
    buf_putc(out, ')');
}

static void put_verdict(const struct gate_metric *question, const struct gate_answer *answer,
                        struct buf *out)
{
    const struct judgement *judgement = &answer->judgement;
    buf_printf(out, "%s: ", verdict_gate_word(answer->gate));
    if (has_zeros(question)) {
        put_zeros(question, out);
        return;
    }
    if (!answer->has_steps && have_two_sources(question)) {
        put_sources(question, out);
        return;
    }
    if (!answer->has_steps) {
        buf_printf(out, "%s is unknown for %s, so there is nothing to compare",
                   question->figure->label,
                   isnan(question->medians[0]) ? "the base" : "the candidate");
        return;
    }
    put_values(question, judgement, out);
    if (judgement->has_interval && strcmp(judgement->method, "equal") != 0)
        put_interval(question, answer, out);
    buf_printf(out, "; the limit is %+.1f %%", 100 * question->max_regression);
    if (answer->gate == GATE_UNDECIDED)
        buf_puts(out, judgement->verdict == VERDICT_UNKNOWN
                          ? ", and the noise between runs is unknown"
                          : ", which is within noise");
}

static void put_evidence(const struct gate_metric *question, const struct judgement *judgement,
                         struct buf *out)
{
    bool unknown = judgement->verdict == VERDICT_UNKNOWN;
    buf_printf(out, "%s%zu run%s of the base, %zu of the candidate",
               unknown ? "noise unknown: " : "evidence: ", judgement->base_runs,
               judgement->base_runs == 1 ? "" : "s", judgement->cand_runs);
    if (strcmp(judgement->method, "mann_whitney") == 0)
        buf_printf(out, ", exact Mann-Whitney p = %.2g (significant up to %g)", judgement->p_value,
                   question->limits.alpha);
    if (question->base_note)
        buf_printf(out, "; %s", question->base_note);
    if (unknown && (judgement->base_missing || judgement->cand_missing))
        buf_printf(out, "; %zu more runs of the base and %zu of the candidate would tell",
                   judgement->base_missing, judgement->cand_missing);
}

static bool end_line(struct buf *line, struct arena *arena, const char **text, struct err *err)
{
    bool ok = buf_ok(line, err);
    *text = ok ? arena_strdup(arena, (struct str){line->at, line->len}, err) : NULL;
    buf_clear(line);
    return *text;
}

static bool put_lines(const struct gate_metric *question, struct arena *arena,
                      struct gate_answer *answer, struct err *err)
{
    struct buf line = {0};
    put_verdict(question, answer, &line);
    bool ok = end_line(&line, arena, &answer->lines[0], err);
    buf_printf(&line, "why: the comparison shows what changed; %s: %s", question->figure->label,
               question->figure->help);
    ok = ok && end_line(&line, arena, &answer->lines[1], err);
    put_evidence(question, &answer->judgement, &line);
    ok = ok && end_line(&line, arena, &answer->lines[2], err);
    buf_free(&line);
    return ok;
}

// Logs round figures, so one equal value a side is no proof that nothing changed.
static void doubt_equal(struct judgement *judgement)
{
    if (strcmp(judgement->method, "equal") != 0 ||
        (judgement->base_runs > 1 && judgement->cand_runs > 1))
        return;
    judgement->method = "none";
    judgement->verdict = VERDICT_UNKNOWN;
    judgement->has_interval = false;
    judgement->bound_share = judgement->p_value = (double)NAN;
}

bool gate_metric_answer(struct gate_metric *question, struct arena *arena,
                        struct gate_answer *answer, struct err *err)
{
    const struct verdict_history none = {0};
    struct samples sides[2];
    *answer = (struct gate_answer){0};
    question->limits.relevant_ns = 0; // it is a threshold of times
    for (int side = 0; side < 2; side++)
        if (!as_times(question, side, arena, &sides[side], err))
            return false;
    struct judgement *judgement = &answer->judgement;
    if (!verdict_judge(sides[0], sides[1], &none, &question->limits, judgement, err))
        return false;
    take_medians(question, judgement);
    doubt_equal(judgement);
    answer->has_steps = isfinite(judgement->shift_share);
    answer->gate =
        has_zeros(question) ? GATE_UNDECIDED : verdict_gate(judgement, limit_of(question));
    judgement->base_ns = judgement->cand_ns = (double)NAN;
    judgement->shift_ns = judgement->relevant_from_ns = (double)NAN;
    answer->anytime.below_evidence = answer->anytime.above_evidence = (double)NAN;
    return put_lines(question, arena, answer, err);
}
