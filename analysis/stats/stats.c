// SPDX-License-Identifier: Apache-2.0
// Order statistics, and the interval of the median by them.
#include "analysis/stats/stats.h"

#include "analysis/stats/sort.h"

#include <math.h>

#define TAIL        0.025   // of an interval's 5 %, on each side
#define DEVIATIONS  1.95996 // of the normal distribution, beyond which that is
#define EXACT_LIMIT 1000    // samples; of more the normal distribution
#define SHORT       32      // samples that are simply sorted

int64_t stats_percentile(const int64_t *sorted, size_t count, unsigned percent)
{
    if (count == 0)
        return 0;
    size_t rank = (count * percent + 99) / 100;
    return sorted[rank ? rank - 1 : 0];
}

int64_t stats_median(const int64_t *sorted, size_t count)
{
    return count ? sorted[(count - 1) / 2] : 0;
}

static double mean_of(const int64_t *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return count ? sum / (double)count : 0;
}

static double stddev_of(const int64_t *values, size_t count, double mean)
{
    if (count < 2)
        return NAN;
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

struct stats stats_of(const int64_t *sorted, size_t count)
{
    if (count == 0)
        return (struct stats){.stddev = NAN};
    double mean = mean_of(sorted, count);
    return (struct stats){
        .count = count,
        .min = sorted[0],
        .median = stats_median(sorted, count),
        .p95 = stats_percentile(sorted, count, 95),
        .p99 = stats_percentile(sorted, count, 99),
        .max = sorted[count - 1],
        .mean = mean,
        .stddev = stddev_of(sorted, count, mean),
    };
}

// The largest index such that the median lies below that sample in at most 2.5 % of cases: the
// number of samples below the median is binomial, with one half each.
static size_t low_index(size_t count)
{
    double middle = (double)count / 2;
    if (count > EXACT_LIMIT)
        return (size_t)(middle - 0.5 - DEVIATIONS * sqrt(middle / 2));
    double below = 0, term = ldexp(1, -(int)count); // of no sample, one, two, ...
    size_t index = 0;
    while ((below += term) <= TAIL) {
        term *= (double)(count - index) / (double)(index + 1);
        index++;
    }
    return index ? index - 1 : 0;
}

struct interval stats_interval(size_t count)
{
    if (count < STATS_MIN_INTERVAL)
        return (struct interval){.note = "fewer than 5 steps: no interval"};
    size_t low = low_index(count);
    return (struct interval){true, low, count - 1 - low,
                             count == STATS_MIN_INTERVAL
                                 ? "93.8 % if steps are independent, the most that 5 steps allow"
                                 : "95 % or more if steps are independent, by order statistics"};
}

// --- quantiles by buckets -----------------------------------------------------------------------

// The range of some values split into 256 buckets of equal width.
struct buckets {
    int64_t min, max;
    int shift;
    uint32_t counts[256];
};

static unsigned bucket_of(const struct buckets *buckets, int64_t value)
{
    return (unsigned)(((uint64_t)value - (uint64_t)buckets->min) >> buckets->shift);
}

static void fill(struct buckets *buckets, const int64_t *values, size_t count)
{
    int64_t min = values[0], max = values[0];
    for (size_t i = 1; i < count; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    uint64_t range = (uint64_t)max - (uint64_t)min;
    int bits = range ? 64 - __builtin_clzll(range) : 0;
    *buckets = (struct buckets){.min = min, .max = max, .shift = bits > 8 ? bits - 8 : 0};
    for (size_t i = 0; i < count; i++)
        buckets->counts[bucket_of(buckets, values[i])]++;
}

// The bucket with the value of that rank; *rank becomes the rank within it.
static unsigned find_bucket(const struct buckets *buckets, size_t *rank)
{
    unsigned b = 0;
    while (*rank >= buckets->counts[b])
        *rank -= buckets->counts[b++];
    return b;
}

// The value of a rank, from 0. Each round narrows the range by at least eight bits, so there are at
// most eight rounds.
static int64_t pick(int64_t *values, size_t count, size_t rank)
{
    struct buckets buckets;
    while (count >= SHORT) {
        fill(&buckets, values, count);
        if (buckets.min == buckets.max)
            return buckets.min;
        unsigned wanted = find_bucket(&buckets, &rank);
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (bucket_of(&buckets, values[i]) == wanted)
                values[kept++] = values[i];
        count = kept;
    }
    sort_i64(values, values, count); // a few values need no scratch
    return values[rank];
}

struct quantiles stats_quantiles(int64_t *values, int64_t *scratch, size_t count)
{
    if (count < SHORT) {
        sort_i64(values, scratch, count);
        return (struct quantiles){count ? values[0] : 0, stats_median(values, count),
                                  stats_percentile(values, count, 95),
                                  count ? values[count - 1] : 0};
    }
    struct buckets buckets;
    fill(&buckets, values, count);
    size_t middle_rank = (count - 1) / 2, high_rank = (count * 95 + 99) / 100 - 1;
    unsigned middle = find_bucket(&buckets, &middle_rank);
    unsigned high = find_bucket(&buckets, &high_rank);
    size_t middle_count = 0, high_count = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = values[i];
        unsigned bucket = bucket_of(&buckets, value);
        if (bucket == middle)
            scratch[middle_count++] = value;
        if (bucket == high)
            values[high_count++] = value;
    }
    return (struct quantiles){buckets.min, pick(scratch, middle_count, middle_rank),
                              pick(values, high_count, high_rank), buckets.max};
}
