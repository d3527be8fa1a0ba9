// SPDX-License-Identifier: Apache-2.0
// The tables of counters.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

#define COUNTER_COLUMNS                                         \
    TEXT("device", "The device; empty for a counter of none."), \
        TEXT("counter", "Its name, and after a colon the name of the value if it has another.")

static const struct column columns_counters[] = {
    COUNTER_COLUMNS,
    TEXT("unit", "By the name: percent, share, bytes/s, bytes, cycles, ...; of a counter that "
                 "counts per sample, per sample. Empty when the name does not say."),
    I64("samples", "count", "Values recorded."),
    I64("spacing_ns", "ns", "Median time from one value to the next."),
    BOOLEAN("sampled", "Whether it comes at a steady pace: three quarters of the spacings lie "
                       "between half and twice the median."),
    F64("mean", "",
        "Mean over the steady steps, each value weighted by the time for which it "
        "held: until the next one, the last for the median spacing. One that comes at "
        "a steady pace holds no value across a spacing of over twice the median."),
    F64("min", "", "Least value that held in a steady step."),
    F64("max", "", "Greatest value that held in a steady step."),
    F64("covered_share", "share", "Part of the steady steps in which a value held."),
    TEXT("process", "The process under which it was recorded."),
};
const struct table_desc table_counters =
    TABLE("counters", counters, "Counters sampled beside the events, over the steady steps.");

static const struct column columns_counter_steps[] = {
    COUNTER_COLUMNS,
    I64("step", "", "Number of the step."),
    BOOLEAN("steady", "Whether the step counts."),
    F64("mean", "",
        "Mean over the step on the device, weighted by time as in counters; empty "
        "where no value held."),
    F64("min", "", "Least value that held in the step."),
    F64("max", "", "Greatest value that held in the step."),
    I64("covered_ns", "ns", "Time of the step in which a value held."),
    I64("busy_ns", "ns", "Time of the step in which a device worked, all devices merged."),
    I64("step_ns", "ns", "Time of the step."),
};
const struct table_desc table_counter_steps =
    TABLE("counter_steps", counter_steps, "Counters by step, beside its busy time.");

static const struct column columns_counter_series[] = {
    COUNTER_COLUMNS,
    I64("time_ns", "ns",
        "Time since the begin of the trace's window, since the first value when there is no "
        "device work."),
    F64("value", "", "What the counter shows from this time on."),
};
const struct table_desc table_counter_series =
    TABLE("counter_series", counter_series,
          "Counters over time; thinned out to 1,000 points a counter that keep every extreme.");
