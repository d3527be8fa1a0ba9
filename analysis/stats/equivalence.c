// SPDX-License-Identifier: Apache-2.0
// One-sided bound on a shift, by inverting the permutation test of means.
#include "analysis/stats/equivalence.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define MOST_CHOSEN 8 // of the smaller side: 9 of 18 have more deals than EQUIVALENCE_MOST_DEALS

// Ways to choose some of count; EQUIVALENCE_MOST_DEALS + 1 for more than that.
static size_t ways_to_choose(size_t count, size_t chosen)
{
    double ways = 1;
    for (size_t i = 1; i <= chosen && ways <= EQUIVALENCE_MOST_DEALS; i++)
        ways *= (double)(count - chosen + i) / (double)i;
    return ways <= EQUIVALENCE_MOST_DEALS ? (size_t)llround(ways) : EQUIVALENCE_MOST_DEALS + 1;
}

static double sum_at(struct samples samples, const size_t *at, size_t chosen)
{
    double sum = 0;
    for (size_t i = 0; i < chosen; i++)
        sum += samples.at[at[i]];
    return sum;
}

// The means of all subsets of a given size, in order of their indices.
static size_t subset_means(struct samples samples, size_t chosen, double *means)
{
    size_t at[MOST_CHOSEN], count = 0;
    for (size_t i = 0; i < chosen; i++)
        at[i] = i;
    for (;;) {
        means[count++] = sum_at(samples, at, chosen) / (double)chosen;
        size_t last = chosen; // the last index that can move up
        while (last > 0 && at[last - 1] == samples.count - chosen + last - 1)
            last--;
        if (last == 0)
            return count;
        at[last - 1]++;
        for (size_t i = last; i < chosen; i++)
            at[i] = at[i - 1] + 1;
    }
}

// Each pair of subsets is one deal: it swaps them. The original deal has no pair.
static double bound_of_means(struct samples a, struct samples b, size_t k, double *room,
                             size_t deals)
{
    double *differences = room, *of_a = room + deals, *of_b = room + 2 * deals;
    size_t count = 0;
    for (size_t chosen = 1; chosen <= a.count && chosen <= b.count; chosen++) {
        size_t a_means = subset_means(a, chosen, of_a), b_means = subset_means(b, chosen, of_b);
        for (size_t i = 0; i < a_means; i++)
            for (size_t j = 0; j < b_means; j++)
                differences[count++] = of_b[j] - of_a[i];
    }
    qsort(differences, count, sizeof *differences, order_doubles);
    return differences[count - k];
}

static bool bound_of_ranks(struct samples a, struct samples b, double alpha, double *bound,
                           struct err *err)
{
    struct shift shift;
    if (!mann_whitney_shift(a, b, fmin(2 * alpha, 1), &shift, err))
        return false;
    *bound = shift.has_interval ? shift.high : INFINITY;
    return true;
}

bool equivalence_bound(struct samples a, struct samples b, double alpha, double *bound,
                       struct err *err)
{
    *bound = INFINITY;
    if (a.count == 0 || b.count == 0)
        return true;
    size_t deals = ways_to_choose(a.count + b.count, a.count < b.count ? a.count : b.count);
    if (deals > EQUIVALENCE_MOST_DEALS)
        return bound_of_ranks(a, b, alpha, bound, err);
    size_t k = (size_t)(alpha * (double)deals * (1 + 1e-12));
    if (k == 0)
        return true;
    double *room = calloc(3 * deals, sizeof *room);
    if (!room)
        return err_set(err, ERR_MEMORY, "out of memory for %zu deals of runs", deals);
    *bound = bound_of_means(a, b, k, room, deals);
    free(room);
    return true;
}
