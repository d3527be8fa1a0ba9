// SPDX-License-Identifier: Apache-2.0
// The tables of communication of one rank, and of what the recording lacks.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_process_groups[] = {
    TEXT("process_group", "Name of the process group; empty for kernels without metadata."),
    TEXT("description", "What the job calls the group."),
    I64("size", "count", "Ranks in the group."),
    TEXT("ranks", "Ranks of the group: a list, or first:last:stride when the list was cut."),
    TEXT("span", "intra-node or inter-node, when a node has as many GPUs as the recording lists; "
                 "empty when ranks or GPUs are not known."),
    I64("calls", "count", "Device events of collectives."),
    I64("bytes", "bytes",
        "Sum of the message sizes of the calls whose size is known; empty when none "
        "is."),
    I64("total_ns", "ns", "Sum of the durations of the calls, waiting for other ranks included."),
    I64("exposed_ns", "ns", "Owned time: no compute hid it."),
    F64("exposed_share", "share", "Exposed time divided by total time."),
    F64("window_share", "share", "Exposed time divided by the time of the whole trace."),
};
const struct table_desc table_process_groups =
    TABLE("process_groups", process_groups, "Communication by process group.");

static const struct column columns_comm_sizes[] = {
    TEXT("process_group", "Name of the process group; empty for kernels without metadata."),
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ...; of kernels without "
                 "metadata as their name says."),
    TEXT("dtype", "Element type as recorded."),
    TEXT("size_class", "Message sizes from a power of two up to, and without, the next; empty when "
                       "not known."),
    I64("group_size", "count", "Ranks in the group."),
    I64("calls", "count", "Device events of collectives."),
    F64("calls_per_step", "count", "Calls in the steady steps per step."),
    I64("bytes", "bytes",
        "Sum of the message sizes: output of all_gather, what all ranks give or "
        "get in gather and scatter, else the input; of kernels without metadata as the inputs of "
        "their operator tell; empty when not known."),
    I64("total_ns", "ns", "Sum of the durations of the calls, waiting for other ranks included."),
    I64("median_ns", "ns", "Median duration."),
    I64("p95_ns", "ns", "95th percentile of the durations by nearest rank."),
    F64("algo_gbps", "GB/s",
        "Median over the calls of message size by duration; 1 GB = 1e9 bytes."),
    F64("bus_gbps", "GB/s",
        "Algorithm bandwidth times 2(n-1)/n for all_reduce, (n-1)/n for all_gather, "
        "reduce_scatter, "
        "all_to_all, gather and scatter, 1 for broadcast, reduce, send and recv; n ranks."),
    F64("best_bus_gbps", "GB/s",
        "Best bus bandwidth of a call: waiting for others is least in it."),
    I64("exposed_ns", "ns", "Owned time: no compute hid it."),
    F64("exposed_share", "share", "Exposed time divided by total time."),
    TEXT("kernel", "Name of kernels without metadata."),
};
const struct table_desc table_comm_sizes =
    TABLE("comm_sizes", comm_sizes, "Communication by group, collective, type and size class.");

static const struct column columns_comm_ops[] = {
    TEXT("process_group", "Name of the process group as recorded; empty without metadata."),
    TEXT("group_ranks", "All ranks of the group, as [0, 1]; empty when not known."),
    I64("group_size", "count", "Ranks in the group."),
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),
    TEXT("dtype", "Element type as recorded."),
    I64("bytes", "bytes", "Message size of a call, as in comm_sizes; empty when not known."),
    I64("peer", "", "Rank on the other side of a send or recv; empty when not known."),
    TEXT("phase", "Where it was launched: forward, backward, optimizer, other (after the backward "
                  "or the optimizer); empty when not known."),
    TEXT("kernel", "Name of the kernel, when it carries no metadata."),
};
const struct table_desc table_comm_ops = TABLE(
    "comm_ops", comm_ops, "Distinct operations of communication, in order of the first call.");

static const struct column columns_comm_calls[] = {
    I64("op", "", "Its operation: row of comm_ops, from 0 on."),
    I64("sequence", "", "Its number within the process group, as recorded."),
    I64("comms_id", "",
        "The recorded Comms Id, folded to 32 bits: equal on all ranks of one call; empty when not "
        "recorded."),
    I64("step", "", "Number of its step; empty outside of all."),
    I64("begin_ns", "ns", "Begin since the begin of the trace's window."),
    I64("dur_ns", "ns", "Duration, waiting for other ranks included."),
    I64("exposed_ns", "ns", "Owned time: no compute hid it."),
    I64("launch_ns", "ns", "Begin of the call that launched it, since the begin of the window."),
    I64("compute_ns", "ns",
        "Compute from the start of the window to the start of the call; it and the six other "
        "times sum to begin_ns exactly."),
    I64("kernels", "count", "Compute kernels that began before it."),
    I64("memory_ns", "ns", "Exposed copies and memsets up to its begin."),
    I64("comm_ns", "ns", "Exposed communication up to its begin."),
    I64("data_loading_ns", "ns", "Idle time for data loading up to its begin."),
    I64("host_ns", "ns",
        "Idle time of the causes sync, allocator, host_compute and launch_overhead up to its "
        "begin."),
    I64("idle_ns", "ns", "Other idle time up to its begin."),
    I64("unrecorded_ns", "ns",
        "Time up to its begin in which the device ran work that the recording lacks; no idle "
        "time."),
    I64("part", "",
        "0, or of a kernel that does several sends and receives, which has a row for each: which "
        "of them this is. From 1 on the row repeats the kernel's times and has no exposed time."),
    TEXT(
        "exposed_at",
        "Where its exposed time lies, when that is not the whole call: pieces of begin + length in "
        "ns since the call's begin. 16 at most: more are joined, and after / stands how much of "
        "the length is exposed."),
    I64("blocked_ns", "ns",
        "For how long the host stood in calls that wait for the device, up to launch_ns."),
};
const struct table_desc table_comm_calls =
    TABLE("comm_calls", comm_calls, "Every call of a collective, in order of begin.");

static const struct column columns_passes[] = {
    I64("step", "", "Number of the step."),
    BOOLEAN("steady", "Whether the step counts for the headline figures."),
    I64("begin_ns", "ns",
        "Begin of the first compute kernel of forward or backward since the begin of the window."),
    I64("end_ns", "ns", "End of the last one of the backward since the begin of the window."),
    I64("compute_ns", "ns", "Time between these two in which a compute kernel ran."),
    I64("optimizer_begin_ns", "ns", "Begin of the optimizer's first kernel."),
    I64("optimizer_end_ns", "ns", "End of its last one."),
    I64("optimizer_compute_ns", "ns", "Time between these two in which a compute kernel ran."),
    I64("micro_batches", "count", "Forwards that a backward follows."),
};
const struct table_desc table_passes = TABLE(
    "passes", passes, "Forward, backward and optimizer of each step, of traces that communicate.");

static const struct column columns_recording[] = {
    TEXT("item", "Stable word for what a recording may hold."),
    TEXT("state", "present, partial or missing."),
    F64("coverage", "share", "Share of the events concerned that have it."),
    TEXT("shows", "What it shows, or would show."),
    TEXT("how", "How to record it."),
    TEXT("cost", "What recording it costs."),
    TEXT("silent_rules", "Findings that stay silent, or may, where it is missing; all: every one."),
};
const struct table_desc table_recording =
    TABLE("recording", recording, "What the recording holds, and what it lacks.");
