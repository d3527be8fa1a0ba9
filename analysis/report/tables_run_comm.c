// SPDX-License-Identifier: Apache-2.0
// The tables of a run that stand on the collectives of all its ranks.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

// Communication that no compute hid, by what the rank did in it.
#define EXPOSED_COLUMNS                                                          \
    I64("exposed_wait_ns", "ns",                                                 \
        "Exposed communication in which a collective waited for a later rank."), \
        I64("exposed_transfer_ns", "ns", "The rest of the exposed communication.")

static const struct column columns_run_clocks[] = {
    I64("rank", "", "The rank."),
    I64("component", "",
        "Group of ranks whose clocks can be compared: they share collectives or sends, directly or "
        "through others."),
    I64("offset_ns", "ns",
        "Offset to add to the rank's clock (at the start, when the clock drifts or jumps); 0 for "
        "the lowest rank of a component."),
    I64("error_ns", "ns",
        "95th percentile of how far its collectives end from those of the other ranks after "
        "alignment."),
    I64("collectives", "count",
        "Matched collectives, or sends and receives, that the offset is based on."),
    F64("drift_ppm", "ppm",
        "How much faster its clock runs than those of most ranks (than the lowest rank's when no "
        "majority agrees within 1 ppm); 0 without evidence of drift, empty when unknown."),
    I64("jumps", "count", "How often its clock was set during the recording, 4 at most."),
    I64("jump_ns", "ns", "Size of the largest jump; negative when the clock was set back."),
    I64("jump_at_ns", "ns", "Time of that jump since the start of the rank's window."),
};
const struct table_desc table_run_clocks =
    TABLE("clocks", run_clocks, "Clock offsets between the ranks, and how well they are known.");

static const struct column columns_run_comm_waits[] = {
    TEXT("process_group", "Name of the process group."),
    TEXT("dimension",
         "Parallelism of the group: data, tensor, pipeline, expert, ...; empty when unknown."),
    TEXT("ranks", "Ranks of the group, as 0-7 or 0,8,16."),
    I64("group_size", "count", "Ranks in the process group."),
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),
    TEXT("dtype", "Element type as recorded."),
    I64("bytes", "bytes",
        "Message size of a call: output for all_gather, else input, times the element size; empty "
        "when unknown, and for all_to_all with more than 8 sizes in a group, which share one row."),
    TEXT("span", "intra-node or inter-node; empty when unknown."),
    I64("calls", "count", "Collectives in the steady steps, each matched across its ranks."),
    I64("unmatched_calls", "count", "Calls without a matching call on another rank."),
    I64("total_ns", "ns", "Durations summed over collectives and ranks: wait plus transfer."),
    I64("wait_ns", "ns", "Part of the total until the last rank of the collective started."),
    I64("transfer_ns", "ns", "Part of the total after the last rank started."),
    EXPOSED_COLUMNS,
    I64("transfer_median_ns", "ns",
        "Median over the collectives of the shortest transfer of any rank."),
    I64("transfer_p95_ns", "ns", "95th percentile of the same by nearest rank."),
    I64("skew_median_ns", "ns", "Median of the latest start minus the earliest."),
    I64("skew_p95_ns", "ns", "95th percentile of the same by nearest rank."),
    F64("algo_gbps", "GB/s", "Message size divided by the median transfer; 1 GB = 1e9 bytes."),
    F64("bus_gbps", "GB/s",
        "Algorithm bandwidth times 2(n-1)/n for all_reduce, (n-1)/n for all_gather, "
        "reduce_scatter, all_to_all, gather and scatter, 1 for the rest."),
    I64("latest_rank", "", "Rank that most often started last."),
    F64("latest_share", "share", "Share of the collectives that it started last."),
};
const struct table_desc table_run_comm_waits =
    TABLE("comm_waits", run_comm_waits,
          "Collectives across their ranks by process group, kind and size, split into waiting for "
          "the last rank and transfer; sums over the steady steps.");

static const struct column columns_run_lateness[] = {
    I64("rank", "", "The rank."),
    I64("calls", "count", "Matched collectives of the rank."),
    I64("late_calls", "count", "Collectives that it started last."),
    I64("lateness_ns", "ns",
        "Its start minus the median start of the others, summed over its late calls."),
    I64("caused_wait_ns", "ns", "Waits of the others, summed over its late calls."),
    TEXT("process_group", "Process group in which it caused most of these waits."),
    TEXT("reason",
         "compute_slower: the same kernels took longer; more_work: more kernels ran per step; "
         "data_loading; host; copies; communication: it waited in another collective; unknown."),
    F64("reason_share", "share", "Share of its lateness explained by the reason."),
    I64("excess_compute_ns", "ns",
        "Compute since the group's previous collective beyond that of the median rank, summed over "
        "its late calls."),
    I64("excess_data_loading_ns", "ns", "The same for idle time of data loading."),
    I64("excess_host_ns", "ns", "The same for idle time caused by the host."),
    I64("excess_memory_ns", "ns", "The same for exposed copies and memsets."),
    I64("excess_comm_ns", "ns", "The same for exposed communication."),
    I64("excess_idle_ns", "ns", "The same for other idle time and unrecorded time."),
};
const struct table_desc table_run_lateness =
    TABLE("lateness", run_lateness,
          "Ranks that others wait for, and why, over the steady steps; the latest rank first.");

static const struct column columns_run_rank_steps[] = {
    I64("rank", "", "The rank."),
    I64("step", "", "Number in the step's annotation, else its ordinal."),
    BOOLEAN("steady", "True when the step counts for the headline figures."),
    I64("step_ns", "ns", "Duration of the step on the device."),
    I64("compute_ns", "ns", "Time in which at least one compute kernel ran (union)."),
    I64("exposed_comm_ns", "ns", "Time in which communication ran and no compute did."),
    EXPOSED_COLUMNS,
    I64("wait_ns", "ns", "Waiting time in its collectives, hidden or not."),
    I64("idle_ns", "ns", "Time in which no device event ran."),
    I64("lateness_ns", "ns",
        "Its start minus the median start of the others, summed over the collectives of the step "
        "that it started last."),
};
const struct table_desc table_run_rank_steps =
    TABLE("rank_steps", run_rank_steps, "Each step of each rank.");

static const struct column columns_run_efficiency[] = {
    TEXT("metric", "Name of the figure."),
    F64("value", "", "Value in the unit of its row."),
    TEXT("unit", "Unit of the value."),
    TEXT("help", "What the figure means."),
};
const struct table_desc table_run_efficiency = TABLE(
    "efficiency", run_efficiency, "Utilization of all ranks' devices, as factors of one product.");

static const struct column columns_run_strategy[] = {
    TEXT("dimension", "Kind of parallelism: data, tensor, pipeline, expert, ...; overall: all in "
                      "one line; micro_batches and gradient_accumulation: their number."),
    TEXT("variant", "Variant: DDP, FSDP, ZeRO-1, ZeRO-2, ..."),
    I64("degree", "count",
        "Number of ranks it spans; for micro_batches and gradient_accumulation, their number."),
    I64("groups", "count", "Process groups of that kind."),
    TEXT("evidence", "What it was inferred from."),
    TEXT("confidence", "high, medium or low."),
};
const struct table_desc table_run_strategy = TABLE(
    "strategy", run_strategy, "Parallelism strategy of the job, as far as the traces show it.");

static const struct column columns_run_pipeline[] = {
    I64("stage", "", "The stage, 0 first."),
    TEXT("ranks", "Ranks of the stage, as 0-7 or 0,8,16."),
    I64("steps", "count", "Steady steps that the figures are averaged over."),
    I64("micro_batches", "count", "Micro-batches per step."),
    I64("interval_ns", "ns",
        "From the start of the first micro-batch on any stage to the end of the last on any "
        "stage."),
    I64("compute_ns", "ns", "Time of the interval in which the stage computes."),
    I64("bubble_ns", "ns", "Time of the interval in which it does not."),
    F64("bubble_share", "share", "Bubble divided by the interval."),
    F64("ideal_share", "share",
        "(p - 1) / (m v + p - 1) for p stages, m micro-batches, v chunks of layers per stage."),
};
const struct table_desc table_run_pipeline =
    TABLE("pipeline", run_pipeline, "Stages of the pipeline and the bubble of each, per step.");
