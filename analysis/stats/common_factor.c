// SPDX-License-Identifier: Apache-2.0
// Robust centers over rows: of each run's deviations, and of the shifts between the sides.
#include "analysis/stats/common_factor.h"

#include "analysis/stats/reals.h"
#include "analysis/stats/special_functions.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// For the biweight: rows that differ by more of their deviations than this do not count.
#define BIWEIGHT_REACH  4.685
#define BIWEIGHT_ROUNDS 10
// Of log times, as in significance.c: the resolution of whole nanoseconds.
#define LEAST_VARIANCE 1e-12

// One number per row, and its variance.
struct spread {
    double *values, *sorted;
    const double *variances;
    double scale; // the values vary by the rows' variances times this
    size_t count;
};

static double median_of(struct spread *spread)
{
    memcpy(spread->sorted, spread->values, spread->count * sizeof *spread->sorted);
    qsort(spread->sorted, spread->count, sizeof *spread->sorted, order_doubles);
    return reals_median(spread->sorted, spread->count);
}

// Tukey's biweight, starting at the median. *weight: the sum of the weights, one over its variance.
static double center_of(struct spread *spread, double *weight)
{
    double center = median_of(spread);
    for (int round = 0; round < BIWEIGHT_ROUNDS; round++) {
        double sum = 0, all = 0;
        for (size_t i = 0; i < spread->count; i++) {
            double variance = spread->variances[i] * spread->scale;
            double apart = spread->values[i] - center;
            double u = apart * apart / (BIWEIGHT_REACH * BIWEIGHT_REACH * variance);
            double w = u < 1 ? (1 - u) * (1 - u) / variance : 0;
            sum += w * apart;
            all += w;
        }
        *weight = all;
        if (!(all > 0))
            break;
        center += sum / all;
    }
    return center;
}

// The logs of a row's run relative to the mean of its side.
static double deviation_of(const struct log_rows *rows, size_t row, size_t run)
{
    size_t runs = rows->base_count + rows->cand_count;
    const double *base = rows->logs + row * runs, *cand = base + rows->base_count;
    return run < rows->base_count ? base[run] - reals_mean(base, rows->base_count)
                                  : base[run] - reals_mean(cand, rows->cand_count);
}

static void center_runs(const struct log_rows *rows, struct spread *spread, double *of_run,
                        double *error)
{
    size_t runs = rows->base_count + rows->cand_count;
    *error = 0;
    for (size_t run = 0; run < runs; run++) {
        double weight = 0,
               side = (double)(run < rows->base_count ? rows->base_count : rows->cand_count);
        for (size_t row = 0; row < rows->count; row++)
            spread->values[row] = deviation_of(rows, row, run);
        spread->scale = 1 - 1 / side;
        of_run[run] = center_of(spread, &weight);
        *error += weight > 0 ? 1 / weight : 0;
    }
}

static double squares_of(double *values, size_t count)
{
    double mean = reals_mean(values, count), sum = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] -= mean;
        sum += values[i] * values[i];
    }
    return sum;
}

static double shift_of(const struct log_rows *rows, struct spread *spread)
{
    size_t runs = rows->base_count + rows->cand_count;
    double weight;
    for (size_t row = 0; row < rows->count; row++) {
        const double *base = rows->logs + row * runs;
        spread->values[row] = reals_mean(base + rows->base_count, rows->cand_count) -
                              reals_mean(base, rows->base_count);
    }
    spread->scale = 1 / (double)rows->base_count + 1 / (double)rows->cand_count;
    return center_of(spread, &weight);
}

static void find(const struct log_rows *rows, struct spread *spread, double *of_run,
                 struct common_factor *factor)
{
    size_t runs = rows->base_count + rows->cand_count;
    double error, df = (double)runs - 2;
    center_runs(rows, spread, of_run, &error);
    double squares = squares_of(of_run, rows->base_count) +
                     squares_of(of_run + rows->base_count, rows->cand_count);
    factor->error = error / (double)runs;
    factor->shift = shift_of(rows, spread);
    factor->variance = fmax(squares / df, LEAST_VARIANCE);
    factor->share = squares > error ? 1 - error / squares : 0;
    factor->p_value =
        special_t_two_sided(factor->shift / sqrt(factor->variance * spread->scale), df);
    for (size_t run = 0; run < runs; run++)
        of_run[run] *= factor->share;
}

bool common_factor_find(const struct log_rows *rows, double *of_run, struct common_factor *factor,
                        struct err *err)
{
    size_t runs = rows->base_count + rows->cand_count;
    *factor = (struct common_factor){.p_value = 1};
    memset(of_run, 0, runs * sizeof *of_run);
    if (rows->count < COMMON_FACTOR_MIN_ROWS || rows->base_count < 2 || rows->cand_count < 2)
        return true;
    struct spread spread = {.variances = rows->variances, .count = rows->count};
    spread.values = calloc(2 * rows->count, sizeof *spread.values);
    if (!spread.values)
        return err_set(err, ERR_MEMORY, "out of memory for what %zu rows share", rows->count);
    spread.sorted = spread.values + rows->count;
    find(rows, &spread, of_run, factor);
    free(spread.values);
    return true;
}
