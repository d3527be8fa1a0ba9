// SPDX-License-Identifier: Apache-2.0
// Moderated t-tests of rows on log times, without their common noise.
#include "analysis/stats/significance.h"

#include "analysis/stats/common_factor.h"
#include "analysis/stats/reals.h"
#include "analysis/stats/special_functions.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A variance below this share of the median one counts as this share, as in limma.
#define LEAST_VARIANCE_SHARE 1e-5
// Of log times: a deviation of one part in a million, about the resolution of whole nanoseconds.
#define LEAST_VARIANCE 1e-12
// For the shift of all rows together: up to this p-value it is a change, beyond it noise. Also
// required of the own shift of a row that moved relative to the others.
#define COMMON_CHANGE_P 0.01
// From this many rows on, the share of false ones is controlled; with fewer, whether any is false.
#define MANY_ROWS 10

// --- many tests ---------------------------------------------------------------------------------

struct ranked_p {
    double p;
    size_t at;
};

static int compare_p(const void *a, const void *b)
{
    const struct ranked_p *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

bool significance_adjust(double *p_values, size_t count, struct err *err)
{
    struct ranked_p *ranked = calloc(count ? count : 1, sizeof *ranked);
    if (!ranked)
        return err_set(err, ERR_MEMORY, "out of memory for %zu p-values", count);
    size_t tests = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(p_values[i]))
            ranked[tests++] = (struct ranked_p){p_values[i], i};
    qsort(ranked, tests, sizeof *ranked, compare_p);
    double *shares = calloc(tests + 1, sizeof *shares), least = 1, largest = 0;
    if (!shares) {
        free(ranked);
        return err_set(err, ERR_MEMORY, "out of memory for %zu p-values", count);
    }
    for (size_t i = tests; i > 0; i--) // Benjamini and Hochberg
        shares[i - 1] = least = fmin(least, ranked[i - 1].p * (double)tests / (double)i);
    double many = tests < MANY_ROWS ? 1 : shares[MANY_ROWS - 1];
    for (size_t i = 0; i < tests; i++) { // Holm
        largest = fmax(largest, fmin(ranked[i].p * (double)(tests - i), 1));
        p_values[ranked[i].at] = fmin(largest, fmax(shares[i], many));
    }
    free(shares);
    free(ranked);
    return true;
}

// --- variances ----------------------------------------------------------------------------------

// What all tested rows together show about their variances: they scatter like df x of chi-squared
// with df degrees around variance. Infinite df: all rows have one variance; 0: unknown.
struct prior {
    double variance, df;
};

struct fit {
    double shift;    // mean of the candidate's logs minus that of the base's
    double variance; // pooled, of one run
};

// Method of moments on log variances: Smyth 2004, section 6.2; but their scatter is increased by
// its standard error: a few rows do not prove that all have one variance. scratch holds count.
static struct prior fit_prior(const struct fit *fits, size_t count, double df, double *scratch)
{
    double sum = 0, squares;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = log(fits[i].variance) - special_digamma(df / 2) + log(df / 2);
        sum += scratch[i];
    }
    double mean = sum / (double)count;
    if (count < 2)
        return (struct prior){0};
    double degrees = (double)(count - 1);
    squares = reals_squares(scratch, count, mean) / degrees * (1 + sqrt(2 / degrees)) -
              special_trigamma(df / 2);
    if (!(squares > 0))
        return (struct prior){exp(mean), INFINITY};
    double prior_df = 2 * special_trigamma_inverse(squares);
    return (struct prior){exp(mean + special_digamma(prior_df / 2) - log(prior_df / 2)), prior_df};
}

static void raise_least(struct fit *fits, size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = fits[i].variance;
    qsort(scratch, count, sizeof *scratch, order_doubles);
    double median = reals_median(scratch, count);
    double least = fmax(LEAST_VARIANCE, LEAST_VARIANCE_SHARE * median);
    for (size_t i = 0; i < count; i++)
        fits[i].variance = fmax(fits[i].variance, least);
}

// --- rows ---------------------------------------------------------------------------------------

struct family {
    size_t base_count, cand_count;
    struct row_test *tests; // of all rows
    size_t *rows;           // those that are tested
    struct fit *fits;       // of those
    double *logs;           // of those, the base's runs first
    double *of_run;         // what the rows of each run have in common
    double *scratch;        // as many numbers as there are rows
    size_t count;
};

static bool is_usable(const double *times, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(times[i] > 0 && isfinite(times[i])))
            return false;
    return count > 0;
}

static double variance_df(const struct family *family)
{
    return (double)family->base_count + (double)family->cand_count - 2;
}

static struct fit fit_row(const struct family *family, const double *logs)
{
    double base = reals_mean(logs, family->base_count);
    double cand = reals_mean(logs + family->base_count, family->cand_count);
    double squares = reals_squares(logs, family->base_count, base) +
                     reals_squares(logs + family->base_count, family->cand_count, cand);
    return (struct fit){cand - base, squares / variance_df(family)};
}

static void take_rows(struct family *family, const double *times, size_t rows)
{
    size_t runs = family->base_count + family->cand_count;
    bool enough =
        family->base_count >= SIGNIFICANCE_MIN_RUNS && family->cand_count >= SIGNIFICANCE_MIN_RUNS;
    for (size_t i = 0; i < rows; i++) {
        const struct row_test none = {.shift_share = NAN,
                                      .low_share = NAN,
                                      .high_share = NAN,
                                      .p_value = NAN,
                                      .q_value = NAN};
        family->tests[i] = none;
        if (family->base_count == 0 || family->cand_count == 0 ||
            !is_usable(times + i * runs, runs))
            continue;
        double *logs = family->logs + family->count * runs;
        for (size_t run = 0; run < runs; run++)
            logs[run] = log(times[i * runs + run]);
        family->tests[i].shift_share = expm1(fit_row(family, logs).shift);
        family->tests[i].tested = enough;
        if (enough)
            family->rows[family->count++] = i;
    }
}

static struct prior fit_rows(struct family *family)
{
    size_t runs = family->base_count + family->cand_count;
    for (size_t i = 0; i < family->count; i++)
        family->fits[i] = fit_row(family, family->logs + i * runs);
    raise_least(family->fits, family->count, family->scratch);
    return fit_prior(family->fits, family->count, variance_df(family), family->scratch);
}

static double moderated(const struct family *family, struct prior prior, size_t i)
{
    double df = variance_df(family), variance = family->fits[i].variance;
    return isinf(prior.df) ? prior.variance
                           : (prior.df * prior.variance + df * variance) / (prior.df + df);
}

// Removes the rows' common part from their logs. Twice: without it the variances used to weight
// rows are known better.
static bool remove_common(struct family *family, struct common_factor *common, struct err *err)
{
    size_t runs = family->base_count + family->cand_count;
    struct common_factor factor;
    for (int round = 0; round < 2; round++) {
        struct prior prior = fit_rows(family);
        for (size_t i = 0; i < family->count; i++)
            family->scratch[i] = moderated(family, prior, i);
        const struct log_rows rows = {family->logs, family->scratch, family->count,
                                      family->base_count, family->cand_count};
        if (!common_factor_find(&rows, family->of_run, &factor, err))
            return false;
        for (size_t i = 0; i < family->count * runs; i++)
            family->logs[i] -= family->of_run[i % runs];
        if (round == 0)
            *common = factor;
    }
    common->shift = factor.shift;
    return true;
}

// A t-test of a row's shift against its variance.
static double test_shift(double shift, double variance, double df)
{
    return special_t_two_sided(shift / sqrt(variance), df);
}

// How a family's rows are judged.
struct judging {
    struct prior prior;
    struct common_factor common;
    double df;     // of a row's variance
    double share;  // a mean difference varies by a run's variance times this
    bool together; // all rows change together: that change stays in each row
};

// Degrees of freedom of a sum of two variances (F. E. Satterthwaite 1946).
static double joint_df(double a, double a_df, double b, double b_df)
{
    double joint = b > 0 ? (a + b) * (a + b) / (a * a / a_df + b * b / b_df) : a_df;
    return fmax(joint, fmin(a_df, b_df));
}

// The row's shift is judged relative to all rows, unless all shift; a reported row must also have
// moved by itself, in the same direction.
static void test_row(const struct family *family, const struct judging *judging, size_t i)
{
    const struct common_factor *common = &judging->common;
    struct row_test *test = &family->tests[family->rows[i]];
    double own = moderated(family, judging->prior, i) * judging->share;
    double shared = common->share * common->variance * judging->share;
    double df = joint_df(own, judging->df, shared, variance_df(family));
    double shift = family->fits[i].shift, error = sqrt(own + shared);
    double bound = special_t_two_sided_quantile(1 - SIGNIFICANCE_CONFIDENCE, df);
    test->low_share = expm1(shift - bound * error);
    test->high_share = expm1(shift + bound * error);
    test->p_value = test_shift(shift, own + shared, df);
    if (judging->together)
        return;
    double relative = shift - common->share * common->shift;
    double p_value =
        test_shift(relative, own + common->share * common->error * judging->share, judging->df);
    if (relative * shift < 0)
        test->p_value = 1;
    else if (test->p_value <= COMMON_CHANGE_P)
        test->p_value = p_value;
    else
        test->p_value = fmax(test->p_value, p_value);
}

static bool test_rows(struct family *family, struct err *err)
{
    struct judging judging;
    if (!remove_common(family, &judging.common, err))
        return false;
    judging.prior = fit_rows(family);
    double df = variance_df(family);
    judging.df = fmin(df + judging.prior.df, df * (double)family->count);
    judging.share = 1 / (double)family->base_count + 1 / (double)family->cand_count;
    judging.together = judging.common.p_value <= COMMON_CHANGE_P;
    for (size_t i = 0; i < family->count; i++) {
        test_row(family, &judging, i);
        family->scratch[i] = family->tests[family->rows[i]].p_value;
    }
    if (!significance_adjust(family->scratch, family->count, err))
        return false;
    for (size_t i = 0; i < family->count; i++)
        family->tests[family->rows[i]].q_value = family->scratch[i];
    return true;
}

bool significance_rows(const double *times, size_t rows, size_t base_count, size_t cand_count,
                       struct row_test *tests, struct err *err)
{
    struct family family = {.base_count = base_count, .cand_count = cand_count, .tests = tests};
    size_t runs = base_count + cand_count;
    family.rows = calloc(rows + 1, sizeof *family.rows);
    family.fits = calloc(rows + 1, sizeof *family.fits);
    family.scratch = calloc(rows * (runs + 1) + runs + 1, sizeof *family.scratch);
    bool done = family.rows && family.fits && family.scratch;
    if (!done)
        err_set(err, ERR_MEMORY, "out of memory for tests of %zu rows", rows);
    if (done) {
        family.of_run = family.scratch + rows + 1;
        family.logs = family.of_run + runs;
        take_rows(&family, times, rows);
    }
    if (done && family.count > 0)
        done = test_rows(&family, err);
    free(family.rows);
    free(family.fits);
    free(family.scratch);
    return done;
}
