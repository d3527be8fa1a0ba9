// SPDX-License-Identifier: Apache-2.0
// The tables of a run that stand on the collectives of all its ranks.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

// Communication that no compute hid, by what the rank did in it.
#define EXPOSED_COLUMNS                                                                    \
    I64("exposed_wait_ns", "ns",                                                           \
        "Exposed communication in which a collective waited for a rank that came later."), \
        I64("exposed_transfer_ns", "ns", "The rest of the exposed communication.")

static const struct column columns_run_clocks[] = {
    I64("rank", "", "The rank."),
    I64("component", "",
        "Ranks of one number share collectives or send to each other, directly or through others; "
        "clocks of different numbers cannot be compared."),
    I64("offset_ns", "ns",
        "To be added to the rank's clock, at the begin where it drifts or jumps; the lowest rank "
        "of a component has 0."),
    I64("error_ns", "ns",
        "95th percentile of the distances of the ends of its collectives from the ends on the "
        "other ranks, once clocks are aligned."),
    I64("collectives", "count",
        "Matched collectives, or sends and receives, that the offset stands on."),
    F64("drift_ppm", "ppm",
        "How much faster its clock runs than most ranks' (where no most agree within 1 ppm: than "
        "the lowest one's); 0 where nothing speaks for a drift, empty where that is not known."),
    I64("jumps", "count", "How often its clock was set while it recorded, 4 at most."),
    I64("jump_ns", "ns", "By how much it was set forward in the largest jump; below 0: back."),
    I64("jump_at_ns", "ns", "When that was, since the begin of its window."),
};
const struct table_desc table_run_clocks = TABLE(
    "clocks", run_clocks, "By how much the ranks' clocks differ, and how well that is known.");

static const struct column columns_run_comm_waits[] = {
    TEXT("process_group", "Name of the process group."),
    TEXT("dimension", "What the group shares: data, tensor, pipeline, expert, ...; empty when "
                      "not known."),
    TEXT("ranks", "Ranks of the group, as 0-7 or 0,8,16."),
    I64("group_size", "count", "Ranks in the process group."),
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),
    TEXT("dtype", "Element type as recorded."),
    I64("bytes", "bytes",
        "Message size of a call: output for all_gather, else input, times the element size; empty "
        "when not known, and where all_to_all of a group has more than 8 sizes, which are one "
        "row."),
    TEXT("span", "intra-node or inter-node; empty when not known."),
    I64("calls", "count", "Collectives in the steady steps, each matched over its ranks."),
    I64("unmatched_calls", "count", "Calls of single ranks that no other rank's call matches."),
    I64("total_ns", "ns", "Durations, summed over collectives and ranks; wait and transfer."),
    I64("wait_ns", "ns", "Of these, until the last rank of the collective had begun."),
    I64("transfer_ns", "ns", "Of these, the rest."),
    EXPOSED_COLUMNS,
    I64("transfer_median_ns", "ns", "Median over the collectives of the ranks' least transfer."),
    I64("transfer_p95_ns", "ns", "95th percentile of the same by nearest rank."),
    I64("skew_median_ns", "ns", "Median of the latest begin minus the earliest one."),
    I64("skew_p95_ns", "ns", "95th percentile of the same by nearest rank."),
    F64("algo_gbps", "GB/s", "Message size divided by the median transfer; 1 GB = 1e9 bytes."),
    F64("bus_gbps", "GB/s",
        "Algorithm bandwidth times 2(n-1)/n for all_reduce, (n-1)/n for all_gather, "
        "reduce_scatter, all_to_all, gather and scatter, 1 for the rest."),
    I64("latest_rank", "", "Rank that most often began last."),
    F64("latest_share", "share", "Part of the collectives in which it did."),
};
const struct table_desc table_run_comm_waits =
    TABLE("comm_waits", run_comm_waits,
          "Collectives over all their ranks by process group, kind and size, parted into waiting "
          "for the last rank and transfer; sums over the steady steps.");

static const struct column columns_run_lateness[] = {
    I64("rank", "", "The rank."),
    I64("calls", "count", "Matched collectives that the rank took part in."),
    I64("late_calls", "count", "Those that it began last."),
    I64("lateness_ns", "ns",
        "Its begin minus the median begin of the others, summed over its late calls."),
    I64("caused_wait_ns", "ns", "Waits of the others, summed over its late calls."),
    TEXT("process_group", "Process group in which it caused most of them."),
    TEXT("reason",
         "compute_slower: the same kernels took longer; more_work: more kernels ran per step; "
         "data_loading; host; copies; communication: it was kept waiting elsewhere; "
         "unknown."),
    F64("reason_share", "share", "Part of its lateness that the reason explains."),
    I64("excess_compute_ns", "ns",
        "Compute since the group's collective before, more than on the median rank, summed over "
        "its late calls."),
    I64("excess_data_loading_ns", "ns", "The same of idle time for data loading."),
    I64("excess_host_ns", "ns", "The same of idle time for the host."),
    I64("excess_memory_ns", "ns", "The same of exposed copies and memsets."),
    I64("excess_comm_ns", "ns", "The same of exposed communication."),
    I64("excess_idle_ns", "ns", "The same of other idle time and of unrecorded time."),
};
const struct table_desc table_run_lateness =
    TABLE("lateness", run_lateness,
          "For whom the others wait, and why, over the steady steps; most waited for first.");

static const struct column columns_run_rank_steps[] = {
    I64("rank", "", "The rank."),
    I64("step", "", "Number in the step's mark, else its ordinal."),
    BOOLEAN("steady", "Whether the step counts for the headline figures."),
    I64("step_ns", "ns", "Duration of the step on the device."),
    I64("compute_ns", "ns", "Time in which at least one compute kernel ran (union)."),
    I64("exposed_comm_ns", "ns", "Time in which communication ran and no compute did."),
    EXPOSED_COLUMNS,
    I64("wait_ns", "ns", "Waits of its collectives, hidden or not."),
    I64("idle_ns", "ns", "Time in which no device event ran."),
    I64("lateness_ns", "ns",
        "Its begin minus the median begin of the others, summed over the collectives of the step "
        "that it began last."),
};
const struct table_desc table_run_rank_steps =
    TABLE("rank_steps", run_rank_steps, "Each step of each rank.");

static const struct column columns_run_efficiency[] = {
    TEXT("metric", "Name of the figure."),
    F64("value", "", "Its value in the unit beside it."),
    TEXT("unit", "Unit of the value."),
    TEXT("help", "What the figure means."),
};
const struct table_desc table_run_efficiency =
    TABLE("efficiency", run_efficiency,
          "How well the devices of all ranks are used, as factors of one product.");

static const struct column columns_run_strategy[] = {
    TEXT("dimension", "What is spread: data, tensor, pipeline, expert, ...; overall: all in one "
                      "line; micro_batches and gradient_accumulation: how often."),
    TEXT("variant", "How: DDP, FSDP, ZeRO-1, ZeRO-2, ..."),
    I64("degree", "count", "Over how many ranks; for how often, the number."),
    I64("groups", "count", "Process groups of that kind."),
    TEXT("evidence", "What it was inferred from."),
    TEXT("confidence", "high, medium or low."),
};
const struct table_desc table_run_strategy =
    TABLE("strategy", run_strategy, "How the job is spread over its ranks, as far as shown.");

static const struct column columns_run_pipeline[] = {
    I64("stage", "", "The stage, 0 first."),
    TEXT("ranks", "Ranks of the stage, as 0-7 or 0,8,16."),
    I64("steps", "count", "Steady steps that the figures are means of."),
    I64("micro_batches", "count", "Micro-batches of a step."),
    I64("interval_ns", "ns",
        "From the first micro-batch's begin on any stage to the last one's end on any stage."),
    I64("compute_ns", "ns", "Time of the interval in which the stage computes."),
    I64("bubble_ns", "ns", "Time of the interval in which it does not."),
    F64("bubble_share", "share", "The same as a share of the interval."),
    F64("ideal_share", "share",
        "(p - 1) / (m v + p - 1) for p stages, m micro-batches, v chunks of layers per stage."),
};
const struct table_desc table_run_pipeline =
    TABLE("pipeline", run_pipeline, "Stages of the pipeline and the bubble of each, per step.");
