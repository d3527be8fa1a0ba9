// SPDX-License-Identifier: Apache-2.0
// Levels of a series by optimal partitioning with a bounded loss, confirmed by the rank test.
#include "analysis/stats/change_points.h"

#include "analysis/stats/mann_whitney.h"
#include "analysis/stats/reals.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// In squared deviations of the noise. A run counts as LOSS_BOUND at most, so that two runs, however
// far out, cannot justify a change and three can.
#define LOSS_BOUND 9.0
#define PENALTY    18.5
// Between neighbors. The allowance is the estimate, minus some of its standard errors and a share
// per run that long series outweigh: in short series neighbors may well be alike.
#define MOST_CORRELATION   0.9
#define CORRELATION_ERRORS 1.1
#define CORRELATION_RUNS   1.0
#define MOST_ROUNDS        4
// Runs that differ from their level by more deviations than this count as this many.
#define FAR_DEVIATIONS      2.5
#define DEVIATION_OF_MEDIAN 1.4826 // scales a median absolute deviation to a standard deviation
// Differences have twice the variance.
#define DEVIATION_OF_MEDIAN_DIFFERENCE (DEVIATION_OF_MEDIAN / 1.4142135623730951)
// Between neighboring levels; COMPARE.md has the resulting error rates.
#define CONFIRMING_P 0.005
// A series with less noise than this is judged by it: four times it is CHANGE_POINTS_MIN_SHARE.
#define LEAST_NOISE (CHANGE_POINTS_MIN_SHARE / 4)

struct series {
    double *logs;       // of usable values, oldest first
    size_t *at;         // their indices in the caller's values
    double *scratch;    // 3 x count
    size_t *last_start; // for each run: where the best last level starts if the series ended there
    size_t *starts;     // of the levels
    size_t count, level_count;
};

static double median_of(struct series *series, const double *values, size_t count)
{
    memcpy(series->scratch, values, count * sizeof *values);
    qsort(series->scratch, count, sizeof *values, order_doubles);
    return reals_median(series->scratch, count);
}

static bool is_usable(double value)
{
    return value > 0 && isfinite(value);
}

static bool series_make(struct series *series, const double *values, size_t count,
                        struct arena *arena, struct err *err)
{
    *series = (struct series){0};
    size_t from = count, usable = 0;
    while (from > 0 && usable < CHANGE_POINTS_MAX_RUNS)
        usable += is_usable(values[--from]);
    series->logs = arena_array(arena, usable + 1, sizeof *series->logs, err);
    series->scratch = arena_array(arena, 3 * (usable + 1), sizeof *series->scratch, err);
    series->at = arena_array(arena, usable + 1, sizeof *series->at, err);
    series->last_start = arena_array(arena, usable + 1, sizeof *series->last_start, err);
    series->starts = arena_array(arena, 2 * (usable + 1), sizeof *series->starts, err);
    if (!series->logs || !series->scratch || !series->at || !series->last_start || !series->starts)
        return false;
    for (size_t i = from; i < count; i++)
        if (is_usable(values[i])) {
            series->at[series->count] = i;
            series->logs[series->count++] = log(values[i]);
        }
    return true;
}

// From differences between neighbors, of which a change of level affects only one.
static double difference_noise(struct series *series)
{
    double *differences = series->scratch + series->count;
    for (size_t i = 0; i + 1 < series->count; i++)
        differences[i] = fabs(series->logs[i + 1] - series->logs[i]);
    return DEVIATION_OF_MEDIAN_DIFFERENCE * median_of(series, differences, series->count - 1);
}

// Neighbors that are alike (a machine that drifts) differ by less than independent runs do: by 1 -
// r of the variance. And a mean of many runs varies like sqrt((1 + r) / (1 - r)) of as many
// independent ones.
static double noise_of(double difference_noise, double correlation)
{
    return fmax(difference_noise * sqrt(1 + correlation) / (1 - correlation), LEAST_NOISE);
}

// The partition with the smallest sum of losses and penalties, where a level is one of the values:
// for each level the best way to be on it at this run, which is to stay on it or to come from the
// best of all at the previous run.
static void find_last_starts(struct series *series, double noise)
{
    double *cost = series->scratch, before = 0;
    size_t *start = series->starts + series->count;
    memset(cost, 0, series->count * sizeof *cost);
    memset(start, 0, series->count * sizeof *start);
    for (size_t run = 0; run < series->count; run++) {
        size_t best = 0;
        for (size_t level = 0; level < series->count; level++) {
            if (run > 0 && before + PENALTY < cost[level]) {
                cost[level] = before + PENALTY;
                start[level] = run;
            }
            double apart = (series->logs[run] - series->logs[level]) / noise;
            cost[level] += fmin(apart * apart, LOSS_BOUND);
            if (cost[level] < cost[best])
                best = level;
        }
        before = cost[best];
        series->last_start[run] = start[best];
    }
}

static void find_levels(struct series *series)
{
    size_t end = series->count;
    series->level_count = 0;
    while (end > 0) {
        series->starts[series->level_count++] = series->last_start[end - 1];
        end = series->last_start[end - 1];
    }
    for (size_t i = 0; i < series->level_count / 2; i++) {
        size_t other = series->level_count - 1 - i, start = series->starts[i];
        series->starts[i] = series->starts[other];
        series->starts[other] = start;
    }
}

static size_t level_end(const struct series *series, size_t level)
{
    return level + 1 < series->level_count ? series->starts[level + 1] : series->count;
}

static double level_median(struct series *series, size_t level)
{
    size_t start = series->starts[level];
    return median_of(series, series->logs + start, level_end(series, level) - start);
}

// The p-value of the change to a level from the one before; 2 if it is too short or too small to be
// reported at all.
static bool test_change(struct series *series, size_t level, double *p_value, struct err *err)
{
    size_t before = series->starts[level - 1], at = series->starts[level];
    size_t end = level_end(series, level);
    double change = fabs(level_median(series, level) - level_median(series, level - 1));
    *p_value = 2;
    if (at - before < CHANGE_POINTS_MIN_RUNS || end - at < CHANGE_POINTS_MIN_RUNS ||
        change < log1p(CHANGE_POINTS_MIN_SHARE))
        return true;
    return mann_whitney_test((struct samples){series->logs + before, at - before},
                             (struct samples){series->logs + at, end - at}, p_value, err);
}

static void join_level(struct series *series, size_t level)
{
    series->level_count--;
    memmove(series->starts + level, series->starts + level + 1,
            (series->level_count - level) * sizeof *series->starts);
}

// Joins the two levels that differ least significantly until all differ significantly.
static bool confirm_levels(struct series *series, struct err *err)
{
    while (series->level_count > 1) {
        double worst = 0;
        size_t worst_level = 0;
        for (size_t level = 1; level < series->level_count; level++) {
            double p_value;
            if (!test_change(series, level, &p_value, err))
                return false;
            if (p_value > worst) {
                worst = p_value;
                worst_level = level;
            }
        }
        if (worst <= CONFIRMING_P)
            return true;
        join_level(series, worst_level);
    }
    return true;
}

// --- neighbors that are alike ------------------------------------------------------------------

// The runs' deviations from their levels, with outliers pulled in. In scratch.
static double *residuals_of(struct series *series)
{
    double *apart = series->scratch + series->count, *residuals = apart + series->count;
    for (size_t level = 0; level < series->level_count; level++) {
        double median = level_median(series, level);
        for (size_t i = series->starts[level]; i < level_end(series, level); i++) {
            residuals[i] = series->logs[i] - median;
            apart[i] = fabs(residuals[i]);
        }
    }
    double far = FAR_DEVIATIONS * DEVIATION_OF_MEDIAN * median_of(series, apart, series->count);
    for (size_t i = 0; i < series->count; i++)
        residuals[i] = fmin(fmax(residuals[i], -far), far);
    return residuals;
}

// The correlation of neighbors within their levels.
static double raw_correlation(struct series *series)
{
    double *residuals = residuals_of(series), products = 0, squares = 0;
    for (size_t level = 0; level < series->level_count; level++) {
        size_t start = series->starts[level], end = level_end(series, level);
        double mean = 0;
        for (size_t i = start; i < end; i++)
            mean += residuals[i] / (double)(end - start);
        for (size_t i = start; i < end; i++) {
            squares += (residuals[i] - mean) * (residuals[i] - mean);
            products += i > start ? (residuals[i] - mean) * (residuals[i - 1] - mean) : 0;
        }
    }
    return squares > 0 ? products / squares : 0;
}

// The correlation to allow for. The raw one is too low by (1 + 3 r) / count for each level (M. G.
// Kendall 1954), and has an error of sqrt((1 - r^2) / count) (M. S. Bartlett 1946).
static double correlation_of(struct series *series)
{
    double count = (double)series->count, share = (double)series->level_count / count;
    double r = raw_correlation(series) + share;
    r = fmin(r + 3 * share * r, MOST_CORRELATION);
    r += CORRELATION_ERRORS * sqrt((1 - r * r) / count) + CORRELATION_RUNS / count;
    return fmin(fmax(r, 0), MOST_CORRELATION);
}

// First finds levels assuming independent runs, which include any real change; then, as long as
// there are any, levels of runs as correlated as those within the levels were. After a real change
// the remaining runs are uncorrelated; levels that a drift was cut into leave its correlation.
static bool find_sure_levels(struct series *series, struct err *err)
{
    double noise = difference_noise(series), correlation = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        find_last_starts(series, noise_of(noise, correlation));
        find_levels(series);
        if (!confirm_levels(series, err))
            return false;
        double found = series->level_count > 1 ? correlation_of(series) : 0;
        if (found <= correlation)
            break;
        correlation = found;
    }
    return true;
}

static bool write_points(struct series *series, struct change_point *points, struct err *err)
{
    for (size_t level = 1; level < series->level_count; level++) {
        struct change_point *point = &points[level - 1];
        point->at = series->at[series->starts[level]];
        point->before_ns = exp(level_median(series, level - 1));
        point->after_ns = exp(level_median(series, level));
        if (!test_change(series, level, &point->p_value, err))
            return false;
    }
    return true;
}

bool change_points_find(const double *values, size_t count, struct arena *arena,
                        struct change_point **points, size_t *found, struct err *err)
{
    struct series series;
    *points = NULL;
    *found = 0;
    if (!series_make(&series, values, count, arena, err))
        return false;
    if (series.count < 2 * CHANGE_POINTS_MIN_RUNS)
        return true;
    if (!find_sure_levels(&series, err))
        return false;
    *points = arena_array(arena, series.level_count, sizeof **points, err);
    if (!*points || !write_points(&series, *points, err))
        return false;
    *found = series.level_count - 1;
    return true;
}
