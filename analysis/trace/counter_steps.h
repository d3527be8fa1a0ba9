// SPDX-License-Identifier: Apache-2.0
// What a counter showed in a stretch of time.
#ifndef ANALYSIS_COUNTER_STEPS_H
#define ANALYSIS_COUNTER_STEPS_H

#include "analysis/facts/facts.h"

// How long the values of a counter hold. One that is sampled, so that three quarters of its
// spacings lie between half and twice the median one, holds a value for twice that at most: where
// samples are missing nothing is known. Another holds it until the next. The last value holds for
// one median spacing.
struct counter_pace {
    int64_t median_ns; // 0 with one sample
    bool sampled;
};

// Weighted by the time for which each value held; covered_ns 0: nothing is known.
struct counter_mean {
    double weighted; // sum of value x ns
    int64_t covered_ns;
    double least, most;
};

// Reads a counter from its first sample on.
struct counter_reader {
    const struct trace *trace;
    const struct counter *counter;
    struct counter_pace pace;
    uint32_t next; // the first sample that may still hold
};

// scratch holds 2 x counter->count values.
struct counter_reader counter_read(const struct trace *trace, const struct counter *counter,
                                   int64_t *scratch);

// Adds what the counter showed in the step on the device. Calls ascend in time.
void counter_mean_add(struct counter_reader *reader, const struct step *step,
                      struct counter_mean *mean);

// NaN without cover.
double counter_mean_value(const struct counter_mean *mean);

// "bytes/s", "percent", ... by the counter's name; "" when it does not tell.
const char *counter_unit(struct str name);

#endif
