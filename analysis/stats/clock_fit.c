// SPDX-License-Identifier: Apache-2.0
// Medians throughout, so that single points, such as the one containing a jump, do not matter.
#include "analysis/stats/clock_fit.h"

#include <math.h>
#include <string.h>

#define JUMP_LEAST_NS  50000.0
#define JUMP_NOISE     8.0
#define DRIFT_ERRORS   8.0
#define DRIFT_LEAST    0.5e-6
#define DRIFT_MOST     1e-3
#define DRIFT_LEAST_NS 1000.0
#define NOISE_LEAST_NS 50.0
#define SIDE_LEAST     3 // points on each side of a jump

enum { PAIRS_MAX = CLOCK_FIT_MAX * (CLOCK_FIT_MAX - 1) / 2 };

// Insertion into sorted runs is fast for the few values here.
static double median(double *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

// With few points the noise estimate is uncertain.
static double caution(size_t count)
{
    return 1 + 80.0 / (double)(count * count);
}

// Points and the pieces between jumps that they belong to.
struct pieces {
    const struct clock_point *points;
    size_t count;
    unsigned of[CLOCK_FIT_MAX];
    double level_ns[CLOCK_FIT_JUMPS + 1]; // of each piece, at time 0
    double drift;
};

// The median slope of all pairs in one piece that are at most `reach` points apart.
static double find_drift(const struct pieces *pieces, size_t reach)
{
    double slopes[PAIRS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < pieces->count; i++)
        for (size_t j = i + 1; j < pieces->count && j - i <= reach; j++) {
            double apart_ns = pieces->points[j].time_ns - pieces->points[i].time_ns;
            double away_ns = pieces->points[j].away_ns - pieces->points[i].away_ns;
            if (pieces->of[i] == pieces->of[j] && apart_ns > 0 && !isnan(away_ns))
                slopes[count++] = away_ns / apart_ns;
        }
    return median(slopes, count);
}

static double without_drift(const struct pieces *pieces, size_t point)
{
    return pieces->points[point].away_ns - pieces->drift * pieces->points[point].time_ns;
}

static double level_between(const struct pieces *pieces, size_t first, size_t end)
{
    double values[CLOCK_FIT_MAX];
    for (size_t i = first; i < end; i++)
        values[i - first] = without_drift(pieces, i);
    return median(values, end - first);
}

// Standard deviation of single points, from differences of neighbors, which jumps hardly affect.
static double noise_of(const struct pieces *pieces)
{
    double values[CLOCK_FIT_MAX];
    for (size_t i = 1; i < pieces->count; i++)
        values[i - 1] = fabs(without_drift(pieces, i) - without_drift(pieces, i - 1));
    return fmax(NOISE_LEAST_NS, 1.4826 * median(values, pieces->count - 1) / sqrt(2));
}

static double least_jump(const struct pieces *pieces)
{
    return fmax(JUMP_LEAST_NS, JUMP_NOISE * caution(pieces->count) * noise_of(pieces));
}

static double distances_from(const struct pieces *pieces, size_t first, size_t end, double level_ns)
{
    double sum_ns = 0;
    for (size_t i = first; i < end; i++)
        sum_ns += fabs(without_drift(pieces, i) - level_ns);
    return sum_ns;
}

// The split of the points first to end whose sides are closest to separate levels; 0 if none.
static size_t best_split(const struct pieces *pieces, size_t first, size_t end, double *by_ns)
{
    size_t best = 0;
    double least_ns = INFINITY;
    for (size_t at = first + SIDE_LEAST; at + SIDE_LEAST <= end; at++) {
        double before_ns = level_between(pieces, first, at);
        double after_ns = level_between(pieces, at, end);
        double sum_ns = distances_from(pieces, first, at, before_ns) +
                        distances_from(pieces, at, end, after_ns);
        if (sum_ns >= least_ns)
            continue;
        least_ns = sum_ns;
        best = at;
        *by_ns = after_ns - before_ns;
    }
    return best;
}

static void split_pieces(struct pieces *pieces, const struct clock_fit *fit)
{
    unsigned piece = 0;
    for (size_t i = 0; i < pieces->count; i++) {
        while (piece < fit->jump_count && fit->jumps[piece].point <= i)
            piece++;
        pieces->of[i] = piece;
    }
    for (size_t first = 0, end; first < pieces->count; first = end) {
        for (end = first; end < pieces->count && pieces->of[end] == pieces->of[first];)
            end++;
        pieces->level_ns[pieces->of[first]] = level_between(pieces, first, end);
    }
}

static void insert_jump(struct clock_fit *fit, size_t point)
{
    unsigned at = fit->jump_count++;
    for (; at > 0 && fit->jumps[at - 1].point > point; at--)
        fit->jumps[at] = fit->jumps[at - 1];
    fit->jumps[at].point = (unsigned)point;
}

// Splits the pieces while a split is worth it.
static void find_jumps(struct pieces *pieces, struct clock_fit *fit)
{
    double least_ns = least_jump(pieces);
    bool found = true;
    while (found && fit->jump_count < CLOCK_FIT_JUMPS) {
        found = false;
        for (size_t first = 0, end; first < pieces->count && !found; first = end) {
            for (end = first; end < pieces->count && pieces->of[end] == pieces->of[first];)
                end++;
            double by_ns = 0;
            size_t at = best_split(pieces, first, end, &by_ns);
            found = at > 0 && fabs(by_ns) >= least_ns;
            if (found)
                insert_jump(fit, at);
        }
        split_pieces(pieces, fit);
    }
}

// Recomputes levels with the drift of the pieces; jumps that turn out to be none are dropped.
static void settle_jumps(struct pieces *pieces, struct clock_fit *fit)
{
    double least_ns = least_jump(pieces);
    for (unsigned j = 0; j < fit->jump_count;) {
        split_pieces(pieces, fit);
        fit->jumps[j].by_ns = pieces->level_ns[j + 1] - pieces->level_ns[j];
        if (fabs(fit->jumps[j].by_ns) >= least_ns) {
            j++;
            continue;
        }
        memmove(&fit->jumps[j], &fit->jumps[j + 1], (fit->jump_count - j - 1) * sizeof *fit->jumps);
        fit->jump_count--;
        j = 0;
    }
    split_pieces(pieces, fit);
}

static bool drift_matters(const struct pieces *pieces)
{
    double values[CLOCK_FIT_MAX], mean_ns[CLOCK_FIT_JUMPS + 1] = {0}, squares = 0;
    size_t sizes[CLOCK_FIT_JUMPS + 1] = {0}, count = pieces->count;
    for (size_t i = 0; i < count; i++) {
        values[i] = fabs(without_drift(pieces, i) - pieces->level_ns[pieces->of[i]]);
        mean_ns[pieces->of[i]] += pieces->points[i].time_ns;
        sizes[pieces->of[i]]++;
    }
    for (size_t i = 0; i < count; i++) {
        double apart_ns =
            pieces->points[i].time_ns - mean_ns[pieces->of[i]] / (double)sizes[pieces->of[i]];
        squares += apart_ns * apart_ns;
    }
    double noise_ns = fmax(noise_of(pieces), 1.4826 * median(values, count));
    double error = squares > 0 ? noise_ns / sqrt(squares) : INFINITY;
    double drift = fabs(pieces->drift);
    double span_ns = pieces->points[count - 1].time_ns - pieces->points[0].time_ns;
    return drift >= DRIFT_ERRORS * caution(count) * error && drift >= DRIFT_LEAST &&
           drift <= DRIFT_MOST && drift * span_ns >= DRIFT_LEAST_NS;
}

static size_t near(size_t count)
{
    return count / 4 > 2 ? count / 4 : 2;
}

double clock_fit_slope(const struct clock_point *points, size_t count)
{
    struct pieces pieces = {.points = points, .count = count};
    return count <= CLOCK_FIT_MAX ? find_drift(&pieces, near(count)) : 0;
}

struct clock_fit clock_fit_make(const struct clock_point *points, size_t count)
{
    struct clock_fit fit = {0};
    struct pieces pieces = {.points = points, .count = count};
    if (count < CLOCK_FIT_MIN || count > CLOCK_FIT_MAX)
        return fit;
    pieces.drift = find_drift(&pieces, near(count));
    split_pieces(&pieces, &fit);
    find_jumps(&pieces, &fit);
    pieces.drift = find_drift(&pieces, count);
    settle_jumps(&pieces, &fit);
    fit.slope = pieces.drift;
    if (drift_matters(&pieces)) {
        fit.drift = pieces.drift;
        return fit;
    }
    pieces.drift = 0;
    settle_jumps(&pieces, &fit);
    return fit;
}
