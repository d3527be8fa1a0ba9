// SPDX-License-Identifier: Apache-2.0
// Groups of columns that several tables share, so that a figure has one definition everywhere.
#ifndef ANALYSIS_TABLE_COLUMNS_H
#define ANALYSIS_TABLE_COLUMNS_H

#include "analysis/report/report.h"

// A table_desc that stands on an array `columns_<name>`.
#define TABLE(title, name, text)                                                      \
    {                                                                                 \
        title, text, columns_##name, sizeof columns_##name / sizeof columns_##name[0] \
    }

#define I64(name, unit, help)        \
    {                                \
        name, COLUMN_I64, unit, help \
    }
#define F64(name, unit, help)        \
    {                                \
        name, COLUMN_F64, unit, help \
    }
#define TEXT(name, help)            \
    {                               \
        name, COLUMN_TEXT, "", help \
    }
#define BOOLEAN(name, help)         \
    {                               \
        name, COLUMN_BOOL, "", help \
    }

// Where a stretch of time went; filled by parts_row.
#define PARTS_COLUMNS                                                                             \
    I64("window_ns", "ns", "Time covered; the eight parts sum to it exactly."),                   \
        I64("compute_ns", "ns", "Time in which at least one compute kernel ran (union)."),        \
        I64("exposed_comm_ns", "ns", "Time in which communication ran and no compute did."),      \
        I64("exposed_memory_ns", "ns",                                                            \
            "Time in which copies or memsets ran and neither compute nor communication did."),    \
        I64("idle_ns", "ns", "Time without any recorded device event, including unrecorded_ns."), \
        I64("busy_ns", "ns", "Time in which at least one device event ran (union)."),             \
        I64("total_comm_ns", "ns", "Time in which communication ran, hidden or not (union)."),    \
        I64("total_memory_ns", "ns", "Time in which copies or memsets ran, hidden or not."),      \
        F64("overlap_share", "share",                                                             \
            "Share of the communication time hidden by compute; empty without communication."),   \
        I64("gemm_ns", "ns", "Compute time in which a matrix multiplication ran."),               \
        I64("attention_ns", "ns",                                                                 \
            "Compute time in which an attention kernel ran and no matrix multiplication did."),   \
        I64("other_compute_ns", "ns",                                                             \
            "Compute time in which neither matrix multiplication nor attention ran."),            \
        I64("idle_host_wait_ns", "ns",                                                            \
            "Idle time caused by the host: sync, data_loading, allocator, host_compute or "       \
            "launch_overhead."),                                                                  \
        I64("idle_other_ns", "ns",                                                                \
            "Idle time caused by event_wait, graph_replay, dispatch, profiler, cold_start and "   \
            "unknown."),                                                                          \
        I64("unrecorded_ns", "ns",                                                                \
            "Time without a recorded event although launched work was ready to run: the device "  \
            "ran work missing from the recording. Neither idle nor busy.")

// A distribution of times; filled by stats_row.
#define DISTRIBUTION_COLUMNS                                                                      \
    I64("count", "count", "Number of samples."), I64("min_ns", "ns", "Smallest sample."),         \
        F64("mean_ns", "ns", "Arithmetic mean."),                                                 \
        I64("median_ns", "ns",                                                                    \
            "Median; the lower of the two middle samples when their number is even."),            \
        I64("p95_ns", "ns", "95th percentile by nearest rank."),                                  \
        I64("p99_ns", "ns", "99th percentile by nearest rank."),                                  \
        I64("max_ns", "ns", "Largest sample."),                                                   \
        F64("stddev_ns", "ns", "Standard deviation (n - 1); empty with fewer than two samples."), \
        I64("ci_low_ns", "ns", "Lower bound of the 95 % confidence interval of the median."),     \
        I64("ci_high_ns", "ns", "Upper bound of the 95 % confidence interval of the median."),    \
        TEXT("ci_note", "How the interval was computed, or why there is none.")

#define KERNEL_NAME_COLUMNS                                                                      \
    TEXT("name", "Full name of the kernel, copy or memset."),                                    \
        TEXT("class", "compute, communication or memory: the class with the most of its time."), \
        TEXT("category", "Kind of work, by the launching operator or else by its name."),        \
        TEXT("op", "Innermost operator that launched most of its time; empty without one.")

#define KERNEL_SHAPE_COLUMNS                                                        \
    TEXT("grid", "Most frequent grid x,y,z, as recorded."),                         \
        TEXT("block", "Most frequent block x,y,z."),                                \
        I64("registers", "count", "Most frequent number of registers per thread."), \
        I64("shared_bytes", "bytes", "Most frequent shared memory per block."),     \
        I64("occupancy_percent", "percent", "Most frequent estimated achieved occupancy.")

#define KERNEL_DISTRIBUTION_COLUMNS                                                          \
    I64("min_ns", "ns", "Shortest call."), F64("mean_ns", "ns", "Mean duration of a call."), \
        I64("median_ns", "ns", "Median duration of a call."),                                \
        I64("p95_ns", "ns", "95th percentile of the calls by nearest rank."),                \
        I64("p99_ns", "ns", "99th percentile of the calls by nearest rank."),                \
        I64("max_ns", "ns", "Longest call."),                                                \
        F64("stddev_ns", "ns", "Standard deviation of the durations (n - 1).")

#define KERNEL_SHARE_COLUMNS                                                                     \
    I64("owned_ns", "ns",                                                                        \
        "Time attributed to it alone where events overlap: compute before communication before " \
        "memory, then the earliest start."),                                                     \
        I64("exposed_ns", "ns", "Owned time of communication and memory; 0 for compute."),       \
        F64("window_share", "share", "Total time divided by the time of the whole trace."),      \
        F64("busy_share", "share", "Total time divided by the busy time of the whole trace.")

#define OP_COLUMNS                                                                         \
    TEXT("name", "Name of the operator."),                                                 \
        I64("launching_calls", "count", "Calls that launched at least one device event."), \
        I64("total_ns", "ns",                                                              \
            "Union of the device events launched directly by each call, summed over the calls.")

#define COLLECTIVE_COLUMNS                                                                         \
    TEXT("collective", "Name as recorded; empty for a kernel without metadata."),                  \
        TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),              \
        TEXT("dtype", "Element type as recorded."),                                                \
        I64("in_elems", "count", "Input elements of this rank."),                                  \
        I64("out_elems", "count", "Output elements of this rank."),                                \
        I64("group_size", "count", "Ranks in the process group."),                                 \
        TEXT("process_group", "Name of the process group."),                                       \
        I64("calls", "count", "Kernels that ran."),                                                \
        I64("total_ns", "ns", "Sum of their durations, waiting for other ranks included."),        \
        I64("min_ns", "ns", "Shortest call."), I64("median_ns", "ns", "Median call."),             \
        I64("p95_ns", "ns", "95th percentile of the calls by nearest rank."),                      \
        I64("max_ns", "ns", "Longest call."),                                                      \
        I64("bytes", "bytes",                                                                      \
            "Message size of a call: output for all_gather, else input, times the element size."), \
        F64("algo_gbps", "GB/s",                                                                   \
            "Message size divided by the median duration; 1 GB = 1e9 bytes."),                     \
        F64("bus_gbps", "GB/s",                                                                    \
            "Algorithm bandwidth times 2(n-1)/n for all_reduce, (n-1)/n for all_gather, "          \
            "reduce_scatter, all_to_all, gather and scatter, 1 for the rest."),                    \
        I64("exposed_ns", "ns",                                                                    \
            "Time neither hidden by compute nor owned by an earlier collective."),                 \
        F64("exposed_share", "share", "Exposed time divided by total time."),                      \
        TEXT("kernel", "Name of the kernel when it has no metadata.")

#define SHORT_KERNEL_COLUMNS                                                        \
    TEXT("op", "Innermost operator that launched the kernels; empty without one."), \
        I64("calls", "count", "Kernels launched (copies and memsets left out)."),   \
        I64("short_calls", "count", "Kernels of less than 10 us."),                 \
        I64("total_ns", "ns", "Sum of the durations of all kernels."),              \
        I64("short_ns", "ns", "Sum of the durations of the short ones.")

#define LAUNCH_COLUMNS                                                                        \
    TEXT("metric", "Name of the figure."), I64("value", "", "Value in the unit of its row."), \
        TEXT("unit", "ns or count."), TEXT("help", "What the figure means.")

#define QUALITY_COLUMNS                                                                          \
    TEXT("item", "Stable identifier of the item."), TEXT("severity", "info, warning or error."), \
        I64("count", "count", "Number found."),                                                  \
        I64("time_ns", "ns", "Affected device time, if any."),                                   \
        I64("position", "bytes", "Offset of the first one in the decompressed input."),          \
        TEXT("detail", "What was found."), TEXT("effect", "Effect on the figures.")

#define FINDING_COLUMNS                                                                      \
    TEXT("rule", "Stable name of the rule."),                                                \
        TEXT("title", "Title of the finding with its figure."),                              \
        TEXT("severity", "high, medium, low or info."),                                      \
        I64("cost_ns", "ns", "Upper bound of the time the typical steady step could save."), \
        F64("cost_share", "share", "Cost divided by the typical steady step."),              \
        TEXT("confidence", "high, medium or low."),                                          \
        TEXT("evidence", "JSON array of facts, each with a link to the filtered view."),     \
        TEXT("why", "Why it costs time."), TEXT("advice", "What to do about it."),           \
        TEXT("method", "How it is computed, with its threshold."),                           \
        TEXT("false_alarms", "When it would be a false alarm."),                             \
        I64("own_cost_ns", "ns", "Part of the cost not explained by a costlier finding."),   \
        TEXT("overlaps", "Costlier rule whose time it shares."),                             \
        TEXT("ranks", "Affected ranks, as 0-7 or 0,8,16; empty for all."),                   \
        TEXT("steps", "Affected steps, in the same form; empty for all."),                   \
        TEXT("id", "The rule, or rule:subject; stable across analyses.")

#define SUMMARY_COLUMNS                                                                        \
    I64("device_events", "count",                                                              \
        "Kernels, copies and memsets, without those left out as implausible."),                \
        I64("linked_device_events", "count", "Device events whose launch is in the trace."),   \
        I64("step_count", "count", "Steps found."),                                            \
        I64("steady_steps", "count", "Steps kept after warm-up."),                             \
        I64("step_median_ns", "ns", "Median duration of the steady steps."),                   \
        I64("step_ci_low_ns", "ns", "Lower bound of its 95 % confidence interval."),           \
        I64("step_ci_high_ns", "ns", "Upper bound of its 95 % confidence interval."),          \
        F64("busy_share", "share",                                                             \
            "Busy time divided by the time of the steady steps, unrecorded time excluded."),   \
        F64("exposed_comm_share", "share", "Exposed communication divided by the same time."), \
        F64("idle_share", "share", "Idle time divided by the same time."),                     \
        TEXT("gpu", "Name of the device."), I64("devices", "count", "Devices with events."),   \
        I64("world_size", "count", "World size of the job, as recorded in the trace."),        \
        I64("input_events", "count", "Entries in the file's event list."),                     \
        I64("text_bytes", "bytes", "Size of the decompressed input."),                         \
        I64("findings", "count", "Number of findings."),                                       \
        TEXT("worst_quality", "Worst severity in the trust report."),                          \
        I64("streams", "count", "Streams with device events."),                                \
        I64("rank", "", "Rank, as recorded in the trace."),                                    \
        I64("incomplete", "count", "Events left out because ts, dur or name is missing."),     \
        I64("implausible", "count", "Device events left out for impossible times."),           \
        I64("clipped", "count", "Device events cut at the start of the next one on their stream.")

#endif
