// SPDX-License-Identifier: Apache-2.0
// The verdict on two sides: exact test, else the history's fence, else unknown; and the gate.
#include "analysis/stats/verdict.h"

#include "analysis/stats/equivalence.h"
#include "ingest/base/orders.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RELEVANT_MOST_SHARE 0.01 // of the base's step, upper limit for relevant_ns

struct verdict_limits verdict_default_limits(void)
{
    return (struct verdict_limits){.alpha = 0.05, .relevant_share = 0.002, .relevant_ns = 1e5};
}

bool verdict_check_limits(const struct verdict_limits *limits, struct err *err)
{
    if (!(limits->alpha > 0 && limits->alpha <= 0.5))
        return err_set(err, ERR_USAGE, "alpha is %g, expected a number above 0 and at most 0.5",
                       limits->alpha);
    if (!(limits->relevant_share >= 0 && isfinite(limits->relevant_share)))
        return err_set(err, ERR_USAGE, "relevant_share is %g, expected a number from 0",
                       limits->relevant_share);
    if (!(limits->relevant_ns >= 0 && isfinite(limits->relevant_ns)))
        return err_set(err, ERR_USAGE, "relevant_ns is %g, expected a number from 0",
                       limits->relevant_ns);
    return true;
}

// The usable step times of a side, ascending, as logarithms.
struct side {
    double logs[VERDICT_MAX_RUNS];
    size_t count;
    double median_ns;
};

static bool fill_side(struct side *side, struct samples samples, const char *name, struct err *err)
{
    side->count = 0;
    side->median_ns = NAN;
    if (samples.count > VERDICT_MAX_RUNS)
        return err_set(err, ERR_LIMIT, "%s has %zu runs, at most %d can be compared", name,
                       samples.count, VERDICT_MAX_RUNS);
    for (size_t i = 0; i < samples.count; i++)
        if (samples.at[i] > 0 && isfinite(samples.at[i]))
            side->logs[side->count++] = samples.at[i];
    if (side->count == 0)
        return true;
    qsort(side->logs, side->count, sizeof *side->logs, order_doubles);
    double low = side->logs[(side->count - 1) / 2], high = side->logs[side->count / 2];
    side->median_ns = low + (high - low) / 2;
    for (size_t i = 0; i < side->count; i++)
        side->logs[i] = log(side->logs[i]);
    return true;
}

static struct samples logs_of(const struct side *side)
{
    return (struct samples){side->logs, side->count};
}

static bool are_equal(const struct side *base, const struct side *cand)
{
    return base->count == cand->count && base->median_ns == cand->median_ns &&
           memcmp(base->logs, cand->logs, base->count * sizeof *base->logs) == 0;
}

static void set_interval(struct judgement *judgement, double low, double high)
{
    judgement->has_interval = true;
    judgement->low_share = expm1(low);
    judgement->high_share = judgement->bound_share = expm1(high);
}

static void judge_equal(struct judgement *judgement)
{
    judgement->method = "equal";
    judgement->verdict = VERDICT_NOISE;
    judgement->p_value = 1;
    judgement->shift_share = 0;
    set_interval(judgement, 0, 0);
}

static bool judge_repeats(const struct side *base, const struct side *cand,
                          const struct verdict_limits *limits, const struct shift *shift,
                          struct judgement *judgement, struct err *err)
{
    if (!mann_whitney_test(logs_of(base), logs_of(cand), &judgement->p_value, err))
        return false;
    judgement->method = "mann_whitney";
    judgement->verdict = judgement->p_value <= limits->alpha ? VERDICT_SIGNIFICANT : VERDICT_NOISE;
    if (shift->has_interval)
        set_interval(judgement, shift->low, shift->high);
    double bound;
    if (!equivalence_bound(logs_of(base), logs_of(cand), limits->alpha, &bound, err))
        return false;
    judgement->bound_share = isfinite(bound) ? expm1(bound) : NAN;
    return true;
}

static void judge_series(const struct series_evidence *series, const struct shift *shift,
                         struct judgement *judgement)
{
    double fence = log1p(judgement->threshold_share);
    judgement->method = "series";
    judgement->verdict = VERDICT_SIGNIFICANT;
    judgement->p_value = series->p_value;
    if (!isnan(fence))
        set_interval(judgement, shift->median - fence, shift->median + fence);
}

static void judge_history(const struct shift *shift, struct judgement *judgement)
{
    double fence = log1p(judgement->threshold_share);
    judgement->method = "history";
    judgement->verdict = fabs(shift->median) > fence ? VERDICT_SIGNIFICANT : VERDICT_NOISE;
    set_interval(judgement, shift->median - fence, shift->median + fence);
}

// How many more runs would let the test reach alpha; none for a side that has enough.
static void count_missing(struct judgement *judgement, double alpha)
{
    size_t base = judgement->base_runs, cand = judgement->cand_runs, each = 0;
    while (mann_whitney_least_p(base > each ? base : each, cand > each ? cand : each) > alpha)
        each++;
    judgement->base_missing = each > base ? each - base : 0;
    judgement->cand_missing = each > cand ? each - cand : 0;
}

static bool judge_sides(const struct side *base, const struct side *cand,
                        const struct verdict_limits *limits, const struct series_evidence *series,
                        struct judgement *judgement, struct err *err)
{
    struct shift shift;
    if (!mann_whitney_shift(logs_of(base), logs_of(cand), limits->alpha, &shift, err))
        return false;
    judgement->shift_share = expm1(shift.median);
    if (are_equal(base, cand))
        judge_equal(judgement);
    else if (judgement->base_missing + judgement->cand_missing == 0)
        return judge_repeats(base, cand, limits, &shift, judgement, err);
    else if (series->known && series->changed)
        judge_series(series, &shift, judgement);
    else if (!isnan(judgement->threshold_share))
        judge_history(&shift, judgement);
    return true;
}

double verdict_relevant_from_ns(const struct verdict_limits *limits, double base_ns)
{
    return fmax(limits->relevant_share * base_ns,
                fmin(limits->relevant_ns, RELEVANT_MOST_SHARE * base_ns));
}

bool verdict_judge(struct samples base, struct samples cand, const struct verdict_history *history,
                   const struct verdict_limits *limits, struct judgement *judgement,
                   struct err *err)
{
    *judgement = (struct judgement){.method = "none",
                                    .shift_ns = NAN,
                                    .shift_share = NAN,
                                    .low_share = NAN,
                                    .high_share = NAN,
                                    .bound_share = NAN,
                                    .p_value = NAN,
                                    .relevant_from_ns = NAN};
    struct side sides[2];
    if (!verdict_check_limits(limits, err) || !fill_side(&sides[0], base, "the base", err) ||
        !fill_side(&sides[1], cand, "the candidate", err))
        return false;
    judgement->base_ns = sides[0].median_ns;
    judgement->cand_ns = sides[1].median_ns;
    judgement->base_runs = sides[0].count;
    judgement->cand_runs = sides[1].count;
    judgement->threshold_share = history->series.known
                                     ? history->series.fence_share
                                     : history_fence(history->runs.at, history->runs.count);
    count_missing(judgement, limits->alpha);
    if (sides[0].count > 0)
        judgement->relevant_from_ns = verdict_relevant_from_ns(limits, judgement->base_ns);
    if (sides[0].count == 0 || sides[1].count == 0)
        return true;
    if (!judge_sides(&sides[0], &sides[1], limits, &history->series, judgement, err))
        return false;
    judgement->shift_ns = judgement->base_ns * judgement->shift_share;
    judgement->relevant = judgement->verdict == VERDICT_SIGNIFICANT &&
                          fabs(judgement->shift_ns) >= judgement->relevant_from_ns;
    return true;
}

const char *verdict_word(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_NOISE: return "within noise";
    case VERDICT_SIGNIFICANT: return "significant";
    case VERDICT_UNKNOWN: break;
    }
    return "noise unknown";
}

enum gate verdict_gate(const struct judgement *judgement, double max_regression)
{
    bool bounded = judgement->has_interval;
    if (judgement->bound_share <= max_regression && judgement->shift_share <= max_regression)
        return GATE_PASS;
    if (judgement->verdict == VERDICT_SIGNIFICANT && judgement->shift_share > max_regression)
        return GATE_FAIL;
    return bounded && judgement->low_share > max_regression ? GATE_FAIL : GATE_UNDECIDED;
}

const char *verdict_gate_word(enum gate gate)
{
    switch (gate) {
    case GATE_PASS: return "pass";
    case GATE_FAIL: return "fail";
    case GATE_UNDECIDED: break;
    }
    return "undecided";
}
