// SPDX-License-Identifier: Apache-2.0
// Exact distributions of rank sums, counted by dynamic programming.
#include "analysis/stats/mann_whitney.h"

#include "analysis/stats/special_functions.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static double *room_for(size_t count, struct err *err)
{
    double *room = calloc(count ? count : 1, sizeof *room);
    if (!room)
        err_set(err, ERR_MEMORY, "out of memory for %zu numbers of a rank test", count);
    return room;
}

static bool is_exact(size_t total, size_t chosen)
{
    return chosen <= MANN_WHITNEY_EXACT && total <= MANN_WHITNEY_EXACT / (chosen ? chosen : 1);
}

// --- distributions ------------------------------------------------------------------------------

// Ways to choose some of the values, by the sum of their doubled ranks.
struct ways {
    size_t chosen;  // how many are chosen
    size_t largest; // sum that can occur
    double *by_sum; // largest + 1 per number chosen so far; the last row is the result
    double all;     // total number of ways
};

static double *ways_of(const struct ways *ways, size_t chosen)
{
    return ways->by_sum + chosen * (ways->largest + 1);
}

// Ranks are doubled, so that shared ones are integers.
static bool count_ways(struct ways *ways, const uint32_t *doubled_ranks, size_t total,
                       size_t chosen, struct err *err)
{
    ways->chosen = chosen;
    ways->largest = chosen * 2 * total;
    ways->by_sum = room_for((chosen + 1) * (ways->largest + 1), err);
    if (!ways->by_sum)
        return false;
    ways->by_sum[0] = 1;
    for (size_t i = 0; i < total; i++) {
        size_t rank = doubled_ranks[i];
        for (size_t k = chosen < i + 1 ? chosen : i + 1; k > 0; k--) {
            const double *without = ways_of(ways, k - 1);
            double *with = ways_of(ways, k);
            for (size_t sum = rank; sum <= 2 * total * k; sum++)
                with[sum] += without[sum - rank];
        }
    }
    ways->all = 0;
    for (size_t sum = 0; sum <= ways->largest; sum++)
        ways->all += ways_of(ways, chosen)[sum];
    return true;
}

// --- the test -----------------------------------------------------------------------------------

struct ranked_value {
    double value;
    bool chosen; // of the smaller side
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked_value *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

struct ranking {
    struct ranked_value *values; // ascending
    uint32_t *doubled_ranks;     // of values
    size_t total, chosen;
    uint64_t doubled_sum; // of the ranks of the smaller side
    double ties;          // sum of t^3 - t over groups of t equal values
};

static void rank_values(struct ranking *ranking)
{
    qsort(ranking->values, ranking->total, sizeof *ranking->values, compare_ranked);
    for (size_t from = 0, to; from < ranking->total; from = to) {
        double value = ranking->values[from].value;
        for (to = from + 1; to < ranking->total && ranking->values[to].value == value;)
            to++;
        for (size_t i = from; i < to; i++) {
            ranking->doubled_ranks[i] = (uint32_t)(from + to + 1);
            ranking->doubled_sum += ranking->values[i].chosen ? from + to + 1 : 0;
        }
        double t = (double)(to - from);
        ranking->ties += t * t * t - t;
    }
}

static bool ranking_make(struct ranking *ranking, struct samples a, struct samples b,
                         struct err *err)
{
    size_t total = a.count + b.count;
    *ranking = (struct ranking){.total = total, .chosen = a.count < b.count ? a.count : b.count};
    ranking->values = calloc(total, sizeof *ranking->values);
    ranking->doubled_ranks = calloc(total, sizeof *ranking->doubled_ranks);
    if (!ranking->values || !ranking->doubled_ranks)
        return err_set(err, ERR_MEMORY, "out of memory for the ranks of %zu values", total);
    for (size_t i = 0; i < total; i++)
        ranking->values[i] = i < a.count
                                 ? (struct ranked_value){a.at[i], a.count <= b.count}
                                 : (struct ranked_value){b.at[i - a.count], a.count > b.count};
    rank_values(ranking);
    return true;
}

static bool exact_p(const struct ranking *ranking, double *p_value, struct err *err)
{
    struct ways ways;
    if (!count_ways(&ways, ranking->doubled_ranks, ranking->total, ranking->chosen, err))
        return false;
    const double *by_sum = ways_of(&ways, ranking->chosen);
    double below = 0, above = 0; // both include the observed sum
    for (size_t sum = 0; sum <= ways.largest; sum++) {
        below += sum <= ranking->doubled_sum ? by_sum[sum] : 0;
        above += sum >= ranking->doubled_sum ? by_sum[sum] : 0;
    }
    *p_value = fmin(1, 2 * fmin(below, above) / ways.all);
    free(ways.by_sum);
    return true;
}

static double normal_p(const struct ranking *ranking)
{
    double n = (double)ranking->total, m = (double)ranking->chosen;
    double variance = m * (n - m) / 12 * (n + 1 - ranking->ties / (n * (n - 1)));
    double apart = fabs((double)ranking->doubled_sum / 2 - m * (n + 1) / 2) - 0.5;
    return variance > 0 && apart > 0 ? special_t_two_sided(apart / sqrt(variance), INFINITY) : 1;
}

bool mann_whitney_test(struct samples a, struct samples b, double *p_value, struct err *err)
{
    *p_value = 1;
    if (a.count == 0 || b.count == 0)
        return true;
    struct ranking ranking;
    bool done = ranking_make(&ranking, a, b, err);
    if (done && is_exact(ranking.total, ranking.chosen))
        done = exact_p(&ranking, p_value, err);
    else if (done)
        *p_value = normal_p(&ranking);
    free(ranking.values);
    free(ranking.doubled_ranks);
    return done;
}

double mann_whitney_least_p(size_t a_count, size_t b_count)
{
    double p = 2;
    size_t smaller = a_count < b_count ? a_count : b_count;
    for (size_t i = 1; i <= smaller && p > 0; i++)
        p *= (double)i / (double)(a_count + b_count - smaller + i);
    return p < 1 ? p : 1;
}

// --- the shift ----------------------------------------------------------------------------------

// The largest k for which U < k has at most half of alpha; 0 if none has.
static bool exact_rank(size_t a_count, size_t b_count, double alpha, size_t *k, struct err *err)
{
    size_t total = a_count + b_count, chosen = a_count < b_count ? a_count : b_count;
    uint32_t ranks[MANN_WHITNEY_EXACT];
    for (size_t i = 0; i < total; i++)
        ranks[i] = (uint32_t)(2 * (i + 1));
    struct ways ways;
    if (!count_ways(&ways, ranks, total, chosen, err))
        return false;
    const double *by_sum = ways_of(&ways, chosen);
    double below = 0, allowed = alpha / 2 * ways.all;
    *k = 0;
    for (size_t sum = chosen * (chosen + 1); sum <= ways.largest; sum += 2, ++*k) {
        below += by_sum[sum];
        if (below > allowed * (1 + 1e-12))
            break;
    }
    free(ways.by_sum);
    return true;
}

static size_t normal_rank(size_t a_count, size_t b_count, double alpha)
{
    double m = (double)a_count, n = (double)b_count;
    double z = special_normal_two_sided_quantile(alpha);
    double k = floor(m * n / 2 - z * sqrt(m * n * (m + n + 1) / 12));
    return k > 0 ? (size_t)k : 0;
}

static double middle_of(const double *ascending, size_t count)
{
    double low = ascending[(count - 1) / 2], high = ascending[count / 2];
    return low + (high - low) / 2;
}

bool mann_whitney_shift(struct samples a, struct samples b, double alpha, struct shift *shift,
                        struct err *err)
{
    *shift = (struct shift){.median = NAN, .low = NAN, .high = NAN};
    size_t pairs = a.count * b.count, k;
    if (pairs == 0)
        return true;
    bool exact = is_exact(a.count + b.count, a.count < b.count ? a.count : b.count);
    if (!exact)
        k = normal_rank(a.count, b.count, alpha);
    else if (!exact_rank(a.count, b.count, alpha, &k, err))
        return false;
    double *differences = room_for(pairs, err);
    if (!differences)
        return false;
    for (size_t i = 0; i < pairs; i++)
        differences[i] = b.at[i / a.count] - a.at[i % a.count];
    qsort(differences, pairs, sizeof *differences, order_doubles);
    shift->median = middle_of(differences, pairs);
    shift->has_interval = k > 0;
    if (k > 0) {
        shift->low = differences[k - 1];
        shift->high = differences[pairs - k];
    }
    free(differences);
    return true;
}
