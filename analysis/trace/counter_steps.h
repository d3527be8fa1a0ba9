// SPDX-License-Identifier: Apache-2.0
// A counter's values over a stretch of time.
#ifndef ANALYSIS_COUNTER_STEPS_H
#define ANALYSIS_COUNTER_STEPS_H

#include "analysis/facts/facts.h"

// How long the values of a counter hold. If it is sampled, i.e. three quarters of its spacings are
// between half and twice the median, a value holds for at most twice that: where samples are
// missing nothing is known. Otherwise a value holds until the next. The last value holds for one
// median spacing.
struct counter_pace {
    int64_t median_ns; // 0 with one sample
    bool sampled;
};

// Weighted by the time for which each value held; covered_ns 0: unknown.
struct counter_mean {
    double weighted; // sum of value x ns
    int64_t covered_ns;
    double least, most;
};

// Reads a counter, starting at its first sample.
struct counter_reader {
    const struct trace *trace;
    const struct counter *counter;
    struct counter_pace pace;
    uint32_t next; // the first sample that may still hold
};

// scratch holds 2 x counter->count values.
struct counter_reader counter_read(const struct trace *trace, const struct counter *counter,
                                   int64_t *scratch);

// Adds the counter's values during the step on the device. Calls must ascend in time.
void counter_mean_add(struct counter_reader *reader, const struct step *step,
                      struct counter_mean *mean);

// NaN without cover.
double counter_mean_value(const struct counter_mean *mean);

// "bytes/s", "percent", ... by the counter's name; "" if that does not show it.
const char *counter_unit(struct str name);

#endif
