// SPDX-License-Identifier: Apache-2.0
// The tables of communication of one rank, and of what the recording lacks.
#include "analysis/table_columns.h"
#include "analysis/tables.h"

static const struct column columns_process_groups[] = {
    TEXT("process_group", "Name of the process group; empty for kernels without metadata."),
    TEXT("description", "What the job calls the group."),
    I64("size", "count", "Ranks in the group."),
    TEXT("ranks", "Ranks of the group: a list, or first:last:stride when the list was cut."),
    TEXT("span", "intra-node or inter-node, when a node has as many GPUs as the recording lists; "
                 "empty when ranks or GPUs are not known."),
    I64("calls", "count", "Device events of collectives."),
    I64("bytes", "bytes",
        "Sum of the message sizes of the calls that tell theirs; empty when none "
        "does."),
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
        "get in gather and scatter, else the input; empty when not known."),
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

static const struct column columns_recording[] = {
    TEXT("item", "Stable word for what a recording may hold."),
    TEXT("state", "present, partial or missing."),
    F64("coverage", "share", "Share of the events concerned that have it."),
    TEXT("shows", "What it tells, or would tell."),
    TEXT("how", "How to record it."),
    TEXT("cost", "What recording it costs."),
};
const struct table_desc table_recording =
    TABLE("recording", recording, "What the recording holds, and what it lacks.");
