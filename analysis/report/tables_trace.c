// SPDX-License-Identifier: Apache-2.0
// The tables of one trace.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_summary[] = {
    SUMMARY_COLUMNS,
    I64("window_begin_ns", "ns",
        "Start of the window since 1970 on the rank's clock; without a base time, in the file's "
        "time base."),
};
const struct table_desc table_summary =
    TABLE("summary", summary, "The trace in one row; shares refer to the steady steps.");

static const struct column columns_breakdown[] = {
    TEXT("scope", "trace: all devices merged over the whole window; device: one device over the "
                  "same window; steady: all devices merged, summed over the steady steps."),
    TEXT("device", "Name of the device in the trace, for the scope device."),
    I64("steps", "count", "Steps covered, for the scope steady."),
    PARTS_COLUMNS,
};
const struct table_desc table_breakdown =
    TABLE("breakdown", breakdown, "Where device time went; exclusive parts that sum exactly.");

static const struct column columns_steps[] = {
    I64("step", "", "Number in the step's annotation, else its ordinal."),
    TEXT("name", "Name of the annotation."),
    I64("begin_ns", "ns", "Start of the step since the start of the trace's window."),
    BOOLEAN("steady", "True when the step counts for the headline figures."),
    TEXT("reason", "Why the step does not count."),
    PARTS_COLUMNS,
};
const struct table_desc table_steps = TABLE("steps", steps,
                                            "Steps on the device: from the first event launched "
                                            "inside an annotation to the first of the next.");

static const struct column columns_step_stats[] = {
    TEXT("metric", "Time of a step that is summarized."),
    DISTRIBUTION_COLUMNS,
};
const struct table_desc table_step_stats =
    TABLE("step_stats", step_stats, "Distributions over the steady steps.");

static const struct column columns_classes[] = {
    TEXT("class", "compute, communication or memory."),
    I64("events", "count", "Device events."),
    I64("sum_ns", "ns", "Sum of their durations; overlapping events count in full."),
};
const struct table_desc table_classes = TABLE("classes", classes, "Device events by class.");

static const struct column columns_kernels[] = {
    KERNEL_NAME_COLUMNS,
    I64("calls", "count", "Number of calls."),
    F64("calls_per_step", "count", "Calls in the steady steps per step."),
    I64("total_ns", "ns", "Sum of the durations."),
    KERNEL_SHARE_COLUMNS,
    F64("per_step_ns", "ns", "Sum of the durations in the steady steps per step."),
    KERNEL_DISTRIBUTION_COLUMNS,
    KERNEL_SHAPE_COLUMNS,
};
const struct table_desc table_kernels =
    TABLE("kernels", kernels, "Kernels, copies and memsets by full name.");

static const struct column columns_kernel_rates[] = {
    TEXT("kernel", "Name of the compute kernel."),
    TEXT("basis", "Evidence that calls do equal work: shapes (of the operator's inputs), grid, "
                  "few_blocks (a grid that the kernel may use for any work), values (its time also "
                  "depends on input values); empty without any."),
    I64("work", "", "Identifier of grid, block, shapes and types: equal for equal work."),
    I64("calls", "count", "Calls in the steady steps, or in the whole trace without steady steps."),
    I64("total_ns", "ns", "Sum of their durations."),
};
const struct table_desc table_kernel_rates =
    TABLE("kernel_rates", kernel_rates,
          "Time per call of compute kernels at equal work; the 1,000 with the most time.");

static const struct column columns_step_rates[] = {
    I64("step", "", "Number of the step."),
    F64("ratio", "",
        "Time of its kernels divided by the mean time of the same work in the steady steps: above "
        "1 the device was slower in this step. Empty when such kernels are less than a quarter of "
        "its compute."),
};
const struct table_desc table_step_rates =
    TABLE("step_rates", step_rates, "How fast the kernels of each step ran, at equal work.");

static const struct column columns_ops[] = {OP_COLUMNS};
const struct table_desc table_ops =
    TABLE("ops", ops, "Operators by the device events they launched directly.");

static const struct column columns_collectives[] = {COLLECTIVE_COLUMNS};
const struct table_desc table_collectives =
    TABLE("collectives", collectives, "Communication by process group, collective and size.");

static const struct column columns_short_kernels[] = {SHORT_KERNEL_COLUMNS};
const struct table_desc table_short_kernels =
    TABLE("short_kernels", short_kernels, "Kernels under 10 us by operator.");

static const struct column columns_launches[] = {LAUNCH_COLUMNS};
const struct table_desc table_launches =
    TABLE("launches", launches, "How device events relate to launches on the host.");

static const struct column columns_parts[] = {
    TEXT("bar", "One of the eight parts of the step."),
    TEXT("category", "Category of the work within the bar; for idle time, its cause."),
    TEXT("op", "Innermost operator that launched it; empty without one."),
    TEXT("dims", "Its input shapes as recorded; \"(other shapes)\" when there are too many rows."),
    TEXT("types", "Types of its inputs; empty when not recorded."),
    TEXT("module", "Module it belongs to; empty outside modules or when there are too many rows."),
    TEXT("kernel", "Name of the device event; empty for idle time."),
    I64("calls", "count", "Device events of the steady steps."),
    I64("owned_ns", "ns", "Owned time over all steady steps; the rows of a bar sum to it exactly."),
};
const struct table_desc table_parts =
    TABLE("parts", parts, "Contents of the eight bars, over the steady steps.");

static const struct column columns_quality[] = {QUALITY_COLUMNS};
const struct table_desc table_quality =
    TABLE("quality", quality, "Trust report: data that was repaired, left out or uncertain.");

static const struct column columns_findings[] = {FINDING_COLUMNS};
const struct table_desc table_findings =
    TABLE("findings", findings,
          "What costs time, most costly first; each cost is an upper bound per steady step.");

static const struct column columns_environment[] = {
    TEXT("key", "Name of the setting."),
    TEXT("value", "Value of the setting."),
};
const struct table_desc table_environment =
    TABLE("environment", environment, "Settings and environment as recorded in the trace.");

const struct table_desc *const trace_tables[] = {
    &table_summary,       &table_breakdown,      &table_steps,           &table_step_stats,
    &table_classes,       &table_kernels,        &table_kernel_rates,    &table_step_rates,
    &table_ops,           &table_parts,          &table_collectives,     &table_short_kernels,
    &table_launches,      &table_quality,        &table_findings,        &table_environment,
    &table_operators,     &table_op_shapes,      &table_op_tree,         &table_modules,
    &table_categories,    &table_uncategorized,  &table_idle_causes,     &table_idle_gaps,
    &table_stream_idle,   &table_queues,         &table_launch_delays,   &table_work,
    &table_metrics,       &table_memory,         &table_memory_timeline, &table_memory_peak,
    &table_copies,        &table_process_groups, &table_comm_sizes,      &table_comm_ops,
    &table_comm_calls,    &table_passes,         &table_recording,       &table_counters,
    &table_counter_steps, &table_counter_series, &table_phases,          NULL,
};
