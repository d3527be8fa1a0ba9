// SPDX-License-Identifier: Apache-2.0
// Moderated t-tests of rows on log times, and the false discovery rate over them.
#include "analysis/significance.h"

#include "analysis/special_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A variance below this share of the median one counts as this share, as in limma.
#define LEAST_VARIANCE_SHARE 1e-5
// Of log times: a deviation of one part in a million, about what whole nanoseconds can tell.
#define LEAST_VARIANCE 1e-12

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// --- false discovery rate -----------------------------------------------------------------------

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
    double least = 1;
    for (size_t i = tests; i > 0; i--) {
        least = fmin(least, ranked[i - 1].p * (double)tests / (double)i);
        p_values[ranked[i - 1].at] = least;
    }
    free(ranked);
    return true;
}

// --- variances ----------------------------------------------------------------------------------

// What all tested rows together say of their variances: they scatter like df x of chi-squared with
// df degrees around variance. Infinite df: all rows have one variance; 0: nothing is known.
struct prior {
    double variance, df;
};

struct fit {
    double shift;    // mean of the candidate's logs minus that of the base's
    double variance; // pooled, of one run
};

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] / (double)count;
    return sum;
}

static double squares_of(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

// Method of moments on log variances: Smyth 2004, section 6.2. scratch holds count.
static struct prior fit_prior(const struct fit *fits, size_t count, double df, double *scratch)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        scratch[i] = log(fits[i].variance) - special_digamma(df / 2) + log(df / 2);
        sum += scratch[i];
    }
    double mean = sum / (double)count;
    if (count < 2)
        return (struct prior){0};
    squares = squares_of(scratch, count, mean) / (double)(count - 1) - special_trigamma(df / 2);
    if (!(squares > 0))
        return (struct prior){exp(mean), INFINITY};
    double prior_df = 2 * special_trigamma_inverse(squares);
    return (struct prior){exp(mean + special_digamma(prior_df / 2) - log(prior_df / 2)), prior_df};
}

static void raise_least(struct fit *fits, size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = fits[i].variance;
    qsort(scratch, count, sizeof *scratch, compare_doubles);
    double median = scratch[(count - 1) / 2] / 2 + scratch[count / 2] / 2;
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
    double *scratch;        // as many numbers as there are rows, and a row's logs behind them
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

static struct fit fit_row(const struct family *family, const double *times, double *logs)
{
    size_t runs = family->base_count + family->cand_count;
    for (size_t i = 0; i < runs; i++)
        logs[i] = log(times[i]);
    double base = mean_of(logs, family->base_count);
    double cand = mean_of(logs + family->base_count, family->cand_count);
    double squares = squares_of(logs, family->base_count, base) +
                     squares_of(logs + family->base_count, family->cand_count, cand);
    return (struct fit){cand - base, squares / variance_df(family)};
}

static void fit_rows(struct family *family, const double *times, size_t rows)
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
        struct fit fit = fit_row(family, times + i * runs, family->scratch + rows);
        family->tests[i].shift_share = expm1(fit.shift);
        family->tests[i].tested = enough;
        if (enough) {
            family->rows[family->count] = i;
            family->fits[family->count++] = fit;
        }
    }
}

static void test_rows(struct family *family)
{
    double df = variance_df(family);
    raise_least(family->fits, family->count, family->scratch);
    struct prior prior = fit_prior(family->fits, family->count, df, family->scratch);
    double total_df = fmin(df + prior.df, df * (double)family->count);
    double t_bound = special_t_two_sided_quantile(1 - SIGNIFICANCE_CONFIDENCE, total_df);
    double share = sqrt(1 / (double)family->base_count + 1 / (double)family->cand_count);
    for (size_t i = 0; i < family->count; i++) {
        const struct fit *fit = &family->fits[i];
        double variance = isinf(prior.df)
                              ? prior.variance
                              : (prior.df * prior.variance + df * fit->variance) / (prior.df + df);
        double error = sqrt(variance) * share;
        struct row_test *test = &family->tests[family->rows[i]];
        test->low_share = expm1(fit->shift - t_bound * error);
        test->high_share = expm1(fit->shift + t_bound * error);
        test->p_value = special_t_two_sided(fit->shift / error, total_df);
        family->scratch[i] = test->p_value;
    }
}

static bool adjust_rows(struct family *family, struct err *err)
{
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
    size_t numbers = rows + base_count + cand_count + 1;
    family.rows = calloc(rows + 1, sizeof *family.rows);
    family.fits = calloc(rows + 1, sizeof *family.fits);
    family.scratch = calloc(numbers, sizeof *family.scratch);
    bool done = family.rows && family.fits && family.scratch;
    if (!done)
        err_set(err, ERR_MEMORY, "out of memory for tests of %zu rows", rows);
    if (done)
        fit_rows(&family, times, rows);
    if (done && family.count > 0) {
        test_rows(&family);
        done = adjust_rows(&family, err);
    }
    free(family.rows);
    free(family.fits);
    free(family.scratch);
    return done;
}
