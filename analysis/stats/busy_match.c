// SPDX-License-Identifier: Apache-2.0
#include "analysis/stats/busy_match.h"

#include <math.h>
#include <stdlib.h>

enum {
    FEWEST = 10,      // samples
    PIECES = 4,       // of a period between offsets that are tried
    FINE_PIECES = 32, // around the best one
    MOST_OFFSETS = 1 << 20,
};
#define LEAST_R   0.8
#define LEAST_DEV 0.05 // standard deviation of both, as shares
#define SURE      3.0  // standard errors

// --- the profile --------------------------------------------------------------------------------

static double busy_before(const struct busy_profile *profile, int64_t since_ns)
{
    double at = (double)since_ns / (double)profile->window_ns * (double)profile->pieces;
    size_t piece = (size_t)at < profile->pieces ? (size_t)at : profile->pieces - 1;
    const int64_t *before_ns = &profile->before_ns[piece];
    return (double)before_ns[0] + (at - (double)piece) * (double)(before_ns[1] - before_ns[0]);
}

double busy_share(const struct busy_profile *profile, int64_t from_ns, int64_t to_ns)
{
    int64_t from, to;
    if (__builtin_sub_overflow(from_ns, profile->begin_ns, &from) ||
        __builtin_sub_overflow(to_ns, profile->begin_ns, &to) || from < 0 || to <= from ||
        to > profile->window_ns)
        return NAN;
    double busy_ns = busy_before(profile, to) - busy_before(profile, from);
    return fmin(busy_ns / (double)(to - from), 1);
}

// --- one offset ---------------------------------------------------------------------------------

struct sums {
    size_t count;
    double x, y, xx, yy, xy;
    double next_xx, next_yy; // with the one before
    size_t nexts;
};

static size_t first_from(const struct busy_samples *samples, int64_t time_ns)
{
    size_t low = 0, high = samples->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (samples->time_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_pair(const struct busy_pair *pair, int64_t period_ns, int64_t offset_ns,
                     struct sums *sums)
{
    const struct busy_profile *profile = &pair->profile;
    int64_t begin_ns = profile->begin_ns - offset_ns + period_ns;
    int64_t end_ns = profile->begin_ns - offset_ns + profile->window_ns;
    double last_x = NAN, last_y = NAN;
    for (size_t i = first_from(&pair->samples, begin_ns);
         i < pair->samples.count && pair->samples.time_ns[i] <= end_ns; i++) {
        int64_t time_ns = pair->samples.time_ns[i] + offset_ns;
        double x = busy_share(profile, time_ns - period_ns, time_ns), y = pair->samples.share[i];
        if (isnan(x) || isnan(y))
            continue;
        sums->count++;
        sums->x += x;
        sums->y += y;
        sums->xx += x * x;
        sums->yy += y * y;
        sums->xy += x * y;
        if (!isnan(last_x)) {
            sums->next_xx += last_x * x;
            sums->next_yy += last_y * y;
            sums->nexts++;
        }
        last_x = x;
        last_y = y;
    }
}

static struct sums sums_at(const struct busy_search *search, int64_t offset_ns)
{
    struct sums sums = {0};
    for (size_t i = 0; i < search->count; i++)
        add_pair(&search->pairs[i], search->period_ns, offset_ns, &sums);
    return sums;
}

// NAN if there are too few samples, or all are alike.
static double correlation(const struct sums *sums, size_t fewest)
{
    double n = (double)sums->count;
    if (sums->count < fewest)
        return NAN;
    double xx = sums->xx / n - sums->x / n * (sums->x / n);
    double yy = sums->yy / n - sums->y / n * (sums->y / n);
    double xy = sums->xy / n - sums->x / n * (sums->y / n);
    bool flat = !(xx > LEAST_DEV * LEAST_DEV) || !(yy > LEAST_DEV * LEAST_DEV);
    return flat ? NAN : fmin(xy / sqrt(xx * yy), 1);
}

// The correlation of values with those before them, at least 0.
static double own_correlation(double sum, double squares, size_t count, double nexts, size_t pairs)
{
    double mean = sum / (double)count, variance = squares / (double)count - mean * mean;
    double r = pairs ? (nexts / (double)pairs - mean * mean) / variance : 0;
    return fmax(0, fmin(r, 0.999));
}

// How many independent samples say as much as these.
static double independent_of(const struct sums *sums)
{
    double rx = own_correlation(sums->x, sums->xx, sums->count, sums->next_xx, sums->nexts);
    double ry = own_correlation(sums->y, sums->yy, sums->count, sums->next_yy, sums->nexts);
    return (double)sums->count * (1 - rx * ry) / (1 + rx * ry);
}

// --- all offsets --------------------------------------------------------------------------------

// Offsets first_ns + i * step_ns, or those of the list.
struct offsets {
    int64_t first_ns, step_ns;
    size_t count;
    size_t fewest; // samples that must be compared
};

static int64_t offset_at(const struct busy_search *search, const struct offsets *offsets, size_t i)
{
    return search->offsets_ns ? search->offsets_ns[i]
                              : offsets->first_ns + (int64_t)i * offsets->step_ns;
}

// The offsets at which samples and window overlap; false if there are too many.
static bool span_of(const struct busy_search *search, struct offsets *offsets)
{
    int64_t last_ns = INT64_MIN, span_ns;
    offsets->first_ns = INT64_MAX;
    for (size_t i = 0; i < search->count; i++) {
        const struct busy_pair *pair = &search->pairs[i];
        const struct busy_samples *samples = &pair->samples;
        if (samples->count == 0)
            continue;
        int64_t low = pair->profile.begin_ns - samples->time_ns[samples->count - 1];
        int64_t high = pair->profile.begin_ns + pair->profile.window_ns - samples->time_ns[0];
        offsets->first_ns = low < offsets->first_ns ? low : offsets->first_ns;
        last_ns = high > last_ns ? high : last_ns;
    }
    offsets->step_ns = search->period_ns / PIECES > 0 ? search->period_ns / PIECES : 1;
    if (last_ns < offsets->first_ns ||
        __builtin_sub_overflow(last_ns, offsets->first_ns, &span_ns) ||
        span_ns / offsets->step_ns >= MOST_OFFSETS)
        return false;
    offsets->count = (size_t)(span_ns / offsets->step_ns) + 1;
    return true;
}

// Samples that a window has room for, or all if those are fewer.
static size_t most_samples(const struct busy_search *search)
{
    size_t most = 0;
    for (size_t i = 0; i < search->count; i++) {
        const struct busy_pair *pair = &search->pairs[i];
        size_t room = (size_t)(pair->profile.window_ns / search->period_ns);
        most += room < pair->samples.count ? room : pair->samples.count;
    }
    return most;
}

static bool make_offsets(const struct busy_search *search, struct offsets *offsets)
{
    size_t most = most_samples(search);
    offsets->fewest = most / 2 > FEWEST ? most / 2 : FEWEST;
    offsets->count = search->offset_count;
    if (!search->offsets_ns && !span_of(search, offsets))
        return false;
    double work = (double)most * (double)offsets->count;
    if (most < FEWEST || work > *search->work)
        return false;
    *search->work -= work;
    return true;
}

// The middle of the offsets around the best that fit as well.
static void refine(const struct busy_search *search, const struct offsets *offsets,
                   struct busy_match *match)
{
    int64_t step_ns = search->period_ns / FINE_PIECES, from_ns = 0;
    double best = -2;
    int64_t middle_ns = match->offset_ns;
    for (int i = -FINE_PIECES / PIECES; step_ns > 0 && i <= FINE_PIECES / PIECES; i++) {
        int64_t offset_ns = match->offset_ns + i * step_ns;
        struct sums sums = sums_at(search, offset_ns);
        double r = correlation(&sums, offsets->fewest);
        if (!(r >= best - 1e-9))
            continue;
        from_ns = r > best + 1e-9 ? offset_ns : from_ns;
        middle_ns = from_ns + (offset_ns - from_ns) / 2;
        best = fmax(best, r);
    }
    if (best >= match->r) {
        match->offset_ns = middle_ns;
        match->r = best;
    }
}

static double fisher(double r)
{
    return atanh(fmax(-0.9999, fmin(r, 0.9999)));
}

// Whether chance or another offset could explain it.
static bool is_unique(const struct busy_match *match, size_t offsets)
{
    double error = 1 / sqrt(fmax(match->independent - 3, 0));
    double chance = (sqrt(2 * log((double)offsets)) + SURE) * error;
    double other = isnan(match->other_r) ? 0 : match->other_r;
    return match->r >= LEAST_R && fisher(match->r) >= chance &&
           fisher(match->r) - fisher(other) >= SURE * error;
}

static void find_best(const struct busy_search *search, const struct offsets *offsets,
                      struct busy_match *match)
{
    for (size_t i = 0; i < offsets->count; i++) {
        int64_t offset_ns = offset_at(search, offsets, i);
        struct sums sums = sums_at(search, offset_ns);
        double r = correlation(&sums, offsets->fewest);
        if (isnan(r) || (match->tried && r <= match->r))
            continue;
        *match = (struct busy_match){.tried = true,
                                     .offset_ns = offset_ns,
                                     .r = r,
                                     .samples = sums.count,
                                     .independent = independent_of(&sums)};
    }
}

static double best_other(const struct busy_search *search, const struct offsets *offsets,
                         const struct busy_match *match)
{
    double best = NAN;
    for (size_t i = 0; i < offsets->count; i++) {
        int64_t offset_ns = offset_at(search, offsets, i);
        if (llabs(offset_ns - match->offset_ns) <= 2 * search->period_ns)
            continue;
        struct sums sums = sums_at(search, offset_ns);
        best = fmax(best, correlation(&sums, offsets->fewest));
    }
    return best;
}

struct busy_match busy_match_find(const struct busy_search *search)
{
    struct busy_match match = {.r = NAN, .other_r = NAN};
    struct offsets offsets = {0};
    if (!make_offsets(search, &offsets))
        return match;
    find_best(search, &offsets, &match);
    if (!match.tried)
        return match;
    match.other_r = best_other(search, &offsets, &match);
    if (!search->offsets_ns)
        refine(search, &offsets, &match);
    match.unique = is_unique(&match, offsets.count);
    return match;
}
