// SPDX-License-Identifier: Apache-2.0
// The tables of a run, over its ranks.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_run_summary[] = {
    SUMMARY_COLUMNS,
    I64("ranks", "count", "Ranks with a trace."),
    I64("headline_rank", "",
        "Rank with the lower median of the median steady steps; its figures represent the run."),
    I64("slowest_rank", "", "Rank with the longest median steady step."),
    F64("rank_spread_share", "share",
        "Longest minus shortest median steady step over the ranks, divided by the headline "
        "rank's."),
};
const struct table_desc table_run_summary =
    TABLE("summary", run_summary, "The run in one row: the figures of its headline rank.");

static const struct column columns_run_ranks[] = {
    I64("rank", "", "The rank."),
    TEXT("gpu", "Name of its device."),
    I64("device_events", "count",
        "Kernels, copies and memsets, without those left out as implausible."),
    I64("linked_device_events", "count", "Device events whose launch is in the trace."),
    I64("step_count", "count", "Steps found."),
    I64("steady_steps", "count", "Steps kept after warm-up."),
    I64("step_median_ns", "ns", "Median duration of the steady steps."),
    I64("step_p95_ns", "ns", "95th percentile of the steady steps by nearest rank."),
    PARTS_COLUMNS,
    TEXT("worst_quality", "Worst severity in its trust report."),
    BOOLEAN("headline", "True for the rank that represents the run."),
    TEXT("node",
         "Host name of its node, else a number inferred from the devices; empty when unknown."),
    I64("local_rank", "", "Index of its device on the node; empty when unknown."),
    I64("exposed_wait_ns", "ns",
        "Exposed communication in which a collective waited for a later rank."),
    I64("exposed_transfer_ns", "ns", "The rest of the exposed communication."),
    I64("wait_ns", "ns", "Waiting time in its collectives, hidden or not."),
    I64("lateness_ns", "ns",
        "Its start minus the median start of the others, summed over the collectives it started "
        "last."),
    I64("clock_offset_ns", "ns", "Offset to add to its clock; see clocks."),
};
const struct table_desc table_run_ranks = TABLE(
    "ranks", run_ranks, "The ranks; parts are per steady step, rounded so that they sum exactly.");

static const struct column columns_run_breakdown[] = {
    TEXT("scope", "run_median: the headline rank, summed over its steady steps; run_slowest: the "
                  "same for the slowest rank; rank: one rank over its whole window; device: one "
                  "device of a rank over the same window."),
    I64("rank", "", "The rank."),
    TEXT("device", "Name of the device in the trace."),
    I64("steps", "count", "Steps covered."),
    PARTS_COLUMNS,
};
const struct table_desc table_run_breakdown =
    TABLE("breakdown", run_breakdown, "Where device time went; exclusive parts that sum exactly.");

static const struct column columns_run_steps[] = {
    I64("rank", "", "The rank."),
    I64("step", "", "Number in the step's annotation, else its ordinal."),
    TEXT("name", "Name of the annotation."),
    I64("begin_ns", "ns", "Start of the step since the start of the rank's window."),
    BOOLEAN("steady", "True when the step counts for the headline figures."),
    TEXT("reason", "Why the step does not count."),
    PARTS_COLUMNS,
};
const struct table_desc table_run_steps =
    TABLE("steps", run_steps, "Steps on the device, of all ranks.");

static const struct column columns_run_step_stats[] = {
    I64("rank", "", "The headline rank."),
    TEXT("metric", "Time of a step that is summarized."),
    DISTRIBUTION_COLUMNS,
};
const struct table_desc table_run_step_stats = TABLE(
    "step_stats", run_step_stats, "Distributions over the steady steps of the headline rank.");

static const struct column columns_run_classes[] = {
    TEXT("class", "compute, communication or memory."),
    I64("events", "count", "Device events of all ranks."),
    I64("sum_ns", "ns", "Sum of their durations; overlapping events count in full."),
};
const struct table_desc table_run_classes =
    TABLE("classes", run_classes, "Device events by class, over all ranks.");

static const struct column columns_run_kernels[] = {
    KERNEL_NAME_COLUMNS,
    I64("ranks", "count", "Ranks on which it ran."),
    I64("calls", "count", "Number of calls over all ranks."),
    F64("calls_per_step", "count", "Calls in the steady steps of the headline rank per step."),
    I64("total_ns", "ns", "Sum of the durations over all ranks."),
    KERNEL_SHARE_COLUMNS,
    F64("per_step_ns", "ns",
        "Sum of the durations in the steady steps of the headline rank per step."),
    KERNEL_DISTRIBUTION_COLUMNS,
    I64("rank_min_ns", "ns", "Smallest total among the ranks that ran it."),
    I64("rank_median_ns", "ns", "Lower median of the ranks' totals."),
    I64("rank_max_ns", "ns", "Largest total of a rank."),
    F64("rank_cv", "share",
        "Standard deviation of the ranks' totals (n - 1) divided by their mean."),
    I64("slowest_rank", "", "Rank with the largest total."),
    KERNEL_SHAPE_COLUMNS,
};
const struct table_desc table_run_kernels =
    TABLE("kernels", run_kernels,
          "Kernels, copies and memsets by full name, over all ranks; mean, median, percentiles and "
          "deviation are lower medians of the ranks' figures.");

static const struct column columns_run_ops[] = {
    OP_COLUMNS,
    I64("ranks", "count", "Ranks on which it launched device events."),
};
const struct table_desc table_run_ops =
    TABLE("ops", run_ops, "Operators by the device events they launched directly, over all ranks.");

static const struct column columns_run_collectives[] = {
    COLLECTIVE_COLUMNS,
    I64("ranks", "count", "Ranks that took part."),
};
const struct table_desc table_run_collectives =
    TABLE("collectives", run_collectives,
          "Communication by collective and size over all ranks; median and p95 are lower medians "
          "of the ranks' figures.");

static const struct column columns_run_short_kernels[] = {SHORT_KERNEL_COLUMNS};
const struct table_desc table_run_short_kernels =
    TABLE("short_kernels", run_short_kernels, "Kernels under 10 us by operator, over all ranks.");

static const struct column columns_run_launches[] = {
    I64("rank", "", "The rank."),
    LAUNCH_COLUMNS,
};
const struct table_desc table_run_launches =
    TABLE("launches", run_launches, "How device events relate to launches on the host.");

static const struct column columns_run_quality[] = {
    I64("rank", "", "The rank; empty for the whole run."),
    QUALITY_COLUMNS,
};
const struct table_desc table_run_quality =
    TABLE("quality", run_quality, "Trust report: data that was repaired, left out or uncertain.");

static const struct column columns_run_findings[] = {
    I64("rank", "", "The rank; empty for the whole run."),
    FINDING_COLUMNS,
};
const struct table_desc table_run_findings =
    TABLE("findings", run_findings,
          "What costs time on the headline rank, most costly first; each cost is an upper bound "
          "per steady step.");

static const struct column columns_run_environment[] = {
    TEXT("key", "Name of the setting."),
    TEXT("value", "Value of the setting."),
    I64("ranks", "count", "Ranks with this value."),
};
const struct table_desc table_run_environment =
    TABLE("environment", run_environment, "Settings and environment as recorded in the traces.");

const struct table_desc *const run_tables[] = {
    &table_run_summary,     &table_run_ranks,
    &table_run_breakdown,   &table_run_steps,
    &table_run_step_stats,  &table_run_classes,
    &table_run_kernels,     &table_run_ops,
    &table_run_collectives, &table_run_short_kernels,
    &table_run_launches,    &table_run_quality,
    &table_run_findings,    &table_run_environment,
    &table_run_clocks,      &table_run_comm_waits,
    &table_run_lateness,    &table_run_rank_steps,
    &table_run_efficiency,  &table_run_strategy,
    &table_run_pipeline,    NULL,
};

const struct table_desc *const run_rank_tables[] = {
    &table_summary,
    &table_breakdown,
    &table_step_stats,
    &table_environment,
    &table_steps,
    &table_quality,
    &table_launches,
    &table_kernels,
    &table_ops,
    &table_classes,
    &table_collectives,
    &table_short_kernels,
    &table_process_groups,
    &table_comm_ops,
    &table_comm_calls,
    &table_passes,
    &table_kernel_rates,
    &table_step_rates,
    &table_categories,
    &table_findings,
    &table_idle_gaps,
    NULL,
};
