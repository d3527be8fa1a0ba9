// SPDX-License-Identifier: Apache-2.0
// Order statistics and the bootstrap interval of the median.
#include "analysis/stats.h"

#include <math.h>
#include <string.h>

#define RESAMPLES       2000
#define BOOTSTRAP_LIMIT 500
#define SEED            0x5EEDu

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

// splitmix64: small, well mixed, the same everywhere.
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

// Index of the median of one resample with replacement; drawn[] counts how often each was drawn.
static size_t resample(uint32_t *drawn, size_t count, uint64_t *state)
{
    memset(drawn, 0, count * sizeof *drawn);
    for (size_t i = 0; i < count; i++)
        drawn[(next_random(state) >> 32) * count >> 32]++;
    size_t seen = 0, at = 0;
    while ((seen += drawn[at]) <= (count - 1) / 2)
        at++;
    return at;
}

static bool bootstrap(const int64_t *sorted, size_t count, struct budget *budget,
                      struct interval *interval, struct err *err)
{
    size_t size = 2 * count * sizeof(uint32_t);
    uint32_t *drawn = budget_alloc(budget, size, err);
    if (!drawn)
        return false;
    uint32_t *medians = drawn + count; // how many resamples had their median at each index
    memset(medians, 0, count * sizeof *medians);
    uint64_t state = SEED;
    for (int i = 0; i < RESAMPLES; i++)
        medians[resample(drawn, count, &state)]++;
    size_t below = 0, low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (below <= RESAMPLES * 25 / 1000)
            low = i;
        if (below < RESAMPLES * 975 / 1000)
            high = i;
        below += medians[i];
    }
    budget_free(budget, drawn, size);
    *interval =
        (struct interval){true, sorted[low], sorted[high], "95 %, bootstrap of 2,000 resamples"};
    return true;
}

bool stats_interval(const int64_t *sorted, size_t count, struct budget *budget,
                    struct interval *interval, struct err *err)
{
    if (count < STATS_MIN_INTERVAL) {
        *interval = (struct interval){.note = "fewer than 5 steps: no interval"};
        return true;
    }
    if (count <= BOOTSTRAP_LIMIT)
        return bootstrap(sorted, count, budget, interval, err);
    size_t half = (size_t)ceil(1.96 * sqrt((double)count) / 2);
    *interval =
        (struct interval){true, sorted[(count - 1) / 2 - half], sorted[(count - 1) / 2 + half],
                          "95 %, binomial interval of the median's rank"};
    return true;
}
