// SPDX-License-Identifier: Apache-2.0
// The tables of communication of one rank, and of what the recording lacks.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_process_groups[] = {
    TEXT("process_group", "Name of the process group; empty for kernels without metadata."),
    TEXT("description", "Description of the group, as recorded."),
    I64("size", "count", "Ranks in the group."),
    TEXT("ranks", "Ranks of the group: a list, or first:last:stride when the list was cut."),
    TEXT("span", "intra-node or inter-node, assuming as many GPUs per node as the recording lists; "
                 "empty when ranks or GPUs are unknown."),
    I64("calls", "count", "Device events of collectives."),
    I64("bytes", "bytes",
        "Sum of the message sizes of the calls whose size is known; empty when none "
        "is."),
    I64("total_ns", "ns", "Sum of the durations of the calls, waiting for other ranks included."),
    I64("exposed_ns", "ns", "Owned time: time not hidden by compute."),
    F64("exposed_share", "share", "Exposed time divided by total time."),
    F64("window_share", "share", "Exposed time divided by the time of the whole trace."),
};
const struct table_desc table_process_groups =
    TABLE("process_groups", process_groups, "Communication by process group.");

static const struct column columns_comm_sizes[] = {
    TEXT("process_group", "Name of the process group; empty for kernels without metadata."),
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ...; for kernels "
                 "without metadata, inferred from the name."),
    TEXT("dtype", "Element type as recorded."),
    TEXT("size_class", "Range of message sizes, from a power of two up to but excluding the next; "
                       "empty when unknown."),
    I64("group_size", "count", "Ranks in the group."),
    I64("calls", "count", "Device events of collectives."),
    F64("calls_per_step", "count", "Calls in the steady steps per step."),
    I64("bytes", "bytes",
        "Sum of the message sizes: the output for all_gather, the data of all ranks for gather and "
        "scatter, else the input; inferred from the operator's inputs for kernels without "
        "metadata; empty when unknown."),
    I64("total_ns", "ns", "Sum of the durations of the calls, waiting for other ranks included."),
    I64("median_ns", "ns", "Median duration."),
    I64("p95_ns", "ns", "95th percentile of the durations by nearest rank."),
    F64("algo_gbps", "GB/s",
        "Median over the calls of message size divided by duration; 1 GB = 1e9 bytes."),
    F64("bus_gbps", "GB/s",
        "Algorithm bandwidth times 2(n-1)/n for all_reduce, (n-1)/n for all_gather, "
        "reduce_scatter, "
        "all_to_all, gather and scatter, 1 for broadcast, reduce, send and recv; n ranks."),
    F64("best_bus_gbps", "GB/s",
        "Best bus bandwidth of any call: the one with the least waiting for other ranks."),
    I64("exposed_ns", "ns", "Owned time: time not hidden by compute."),
    F64("exposed_share", "share", "Exposed time divided by total time."),
    TEXT("kernel", "Name of the kernel when it has no metadata."),
};
const struct table_desc table_comm_sizes =
    TABLE("comm_sizes", comm_sizes, "Communication by group, collective, type and size class.");

static const struct column columns_comm_ops[] = {
    TEXT("process_group", "Name of the process group as recorded; empty without metadata."),
    TEXT("group_ranks", "All ranks of the group, as [0, 1]; empty when unknown."),
    I64("group_size", "count", "Ranks in the group."),
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),
    TEXT("dtype", "Element type as recorded."),
    I64("bytes", "bytes", "Message size of a call, as in comm_sizes; empty when unknown."),
    I64("peer", "", "Rank on the other side of a send or recv; empty when unknown."),
    TEXT("phase", "Phase that launched it: forward, backward, optimizer, other (after the backward "
                  "or the optimizer); empty when unknown."),
    TEXT("kernel", "Name of the kernel when it has no metadata."),
};
const struct table_desc table_comm_ops =
    TABLE("comm_ops", comm_ops, "Distinct communication operations, in order of their first call.");

static const struct column columns_comm_calls[] = {
    I64("op", "", "Its operation: row number in comm_ops, from 0."),
    I64("sequence", "", "Sequence number within the process group, as recorded."),
    I64("comms_id", "",
        "The recorded Comms Id, folded to 32 bits: equal on all ranks of one call; empty when not "
        "recorded."),
    I64("step", "", "Number of its step; empty outside steps."),
    I64("begin_ns", "ns", "Start since the start of the trace's window."),
    I64("dur_ns", "ns", "Duration, waiting for other ranks included."),
    I64("exposed_ns", "ns", "Owned time: time not hidden by compute."),
    I64("launch_ns", "ns", "Start of the call that launched it, since the start of the window."),
    I64("compute_ns", "ns",
        "Compute from the start of the window to the start of the call; this and the six other "
        "times sum to begin_ns exactly."),
    I64("kernels", "count", "Compute kernels that started before it."),
    I64("memory_ns", "ns", "Exposed copies and memsets before its start."),
    I64("comm_ns", "ns", "Exposed communication before its start."),
    I64("data_loading_ns", "ns", "Idle time for data loading before its start."),
    I64("host_ns", "ns",
        "Idle time caused by sync, allocator, host_compute and launch_overhead before its start."),
    I64("idle_ns", "ns", "Other idle time before its start."),
    I64("unrecorded_ns", "ns",
        "Time before its start in which the device ran work missing from the recording; not idle "
        "time."),
    I64("part", "",
        "Index of the send or receive within a kernel that does several, else 0. Rows from 1 on "
        "repeat the kernel's times and have no exposed time."),
    TEXT("exposed_at",
         "Exposed parts of the call, as start+length in ns since its start, when not the whole "
         "call is exposed. At most 16; merged parts give their exposed length after a slash."),
    I64("blocked_ns", "ns",
        "Time before launch_ns that the host spent in calls that wait for the device."),
};
const struct table_desc table_comm_calls =
    TABLE("comm_calls", comm_calls, "Every call of a collective, in order of start time.");

static const struct column columns_passes[] = {
    I64("step", "", "Number of the step."),
    BOOLEAN("steady", "True when the step counts for the headline figures."),
    I64("begin_ns", "ns",
        "Start of the first compute kernel of forward or backward, since the start of the window."),
    I64("end_ns", "ns",
        "End of the last compute kernel of the backward, since the start of the window."),
    I64("compute_ns", "ns", "Part of this interval in which a compute kernel ran."),
    I64("optimizer_begin_ns", "ns", "Start of the optimizer's first kernel."),
    I64("optimizer_end_ns", "ns", "End of the optimizer's last kernel."),
    I64("optimizer_compute_ns", "ns", "Part of this interval in which a compute kernel ran."),
    I64("micro_batches", "count", "Forward passes followed by a backward pass."),
};
const struct table_desc table_passes =
    TABLE("passes", passes,
          "Forward, backward and optimizer of each step, for traces with communication.");

static const struct column columns_recording[] = {
    TEXT("item", "Stable identifier of a kind of data."),
    TEXT("state", "present, partial or missing."),
    F64("coverage", "share", "Share of the relevant events that have it."),
    TEXT("shows", "What this data shows."),
    TEXT("how", "How to record it."),
    TEXT("cost", "Cost of recording it."),
    TEXT("silent_rules", "Findings that cannot or may not fire without it; all: every finding."),
};
const struct table_desc table_recording =
    TABLE("recording", recording, "What the recording contains and what is missing.");
