// SPDX-License-Identifier: Apache-2.0
// The tables of counters.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

#define COUNTER_COLUMNS                                             \
    TEXT("device", "The device; empty for a counter without one."), \
        TEXT("counter",                                             \
             "Name of the counter, then after a colon the name of the value if different.")

static const struct column columns_counters[] = {
    COUNTER_COLUMNS,
    TEXT("unit", "Unit inferred from the name: percent, share, bytes/s, bytes, cycles, ...; per "
                 "sample for counters that restart at each sample. Empty when unknown."),
    I64("samples", "count", "Values recorded."),
    I64("spacing_ns", "ns", "Median time from one value to the next."),
    BOOLEAN("sampled", "True when sampled at a steady pace: three quarters of the spacings are "
                       "between half and twice the median."),
    F64("mean", "",
        "Mean over the steady steps, each value weighted by the time until the next one (the "
        "median spacing for the last). A sampled counter has no value across a spacing of more "
        "than twice the median."),
    F64("min", "", "Smallest value in a steady step."),
    F64("max", "", "Largest value in a steady step."),
    F64("covered_share", "share", "Share of the steady steps covered by values."),
    TEXT("process", "Process that recorded it."),
};
const struct table_desc table_counters =
    TABLE("counters", counters, "Counters recorded alongside the events, over the steady steps.");

static const struct column columns_counter_steps[] = {
    COUNTER_COLUMNS,
    I64("step", "", "Number of the step."),
    BOOLEAN("steady", "True when the step counts for the headline figures."),
    F64("mean", "",
        "Mean over the step on the device, weighted by time as in counters; empty without a "
        "value."),
    F64("min", "", "Smallest value in the step."),
    F64("max", "", "Largest value in the step."),
    I64("covered_ns", "ns", "Time of the step covered by values."),
    I64("busy_ns", "ns", "Busy time of the step, all devices merged."),
    I64("step_ns", "ns", "Time of the step."),
};
const struct table_desc table_counter_steps =
    TABLE("counter_steps", counter_steps, "Counters by step, with its busy time.");

static const struct column columns_counter_series[] = {
    COUNTER_COLUMNS,
    I64("time_ns", "ns",
        "Time since the start of the trace's window, or since the first value when there is no "
        "device work."),
    F64("value", "", "Value of the counter from this time on."),
};
const struct table_desc table_counter_series =
    TABLE("counter_series", counter_series,
          "Counters over time, reduced to 1,000 points per counter that keep every extreme.");
