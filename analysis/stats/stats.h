// SPDX-License-Identifier: Apache-2.0
// Order statistics of integer samples, without interpolation: every figure is an actual sample.
#ifndef ANALYSIS_STATS_H
#define ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Fewer samples than this have no confidence interval.
#define STATS_MIN_INTERVAL 5

struct stats {
    size_t count;
    int64_t min, median, p95, p99, max; // 0 without samples
    double mean;
    double stddev; // of the sample (n - 1); NaN below two samples
};

// Which of ascending samples bound the interval of their median; depends only on their count.
struct interval {
    bool known;
    size_t low, high;
    const char *note; // the method, or why there is none
};

// Figures that do not need all samples sorted.
struct quantiles {
    int64_t min, median, p95, max; // 0 without samples
};

// Nearest rank: the smallest sample with at least percent of all samples at or below it.
// The median of an even count is the lower of the middle two.
int64_t stats_percentile(const int64_t *sorted, size_t count, unsigned percent);
int64_t stats_median(const int64_t *sorted, size_t count);

// All figures of ascending samples.
struct stats stats_of(const int64_t *sorted, size_t count);

// The same percentiles for unsorted samples, which are reordered. scratch holds count values.
// Linear.
struct quantiles stats_quantiles(int64_t *values, int64_t *scratch, size_t count);

// Confidence interval of the median of that many independent samples: the narrowest symmetric pair
// of order statistics that covers it with 95 % or more, whatever the distribution (H. A. David and
// H. N. Nagaraja, Order Statistics, 2003, 7.1). Of 5 samples it is the range, which covers 93.8 %.
struct interval stats_interval(size_t count);

#endif
