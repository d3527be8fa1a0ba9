// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

#define CAND_COLUMN I64("cand", "", "Number of the candidate in the request, from 1.")

static const struct column columns_compare_summary[] = {
    CAND_COLUMN,
    I64("base_step_ns", "ns",
        "Median steady step of the base; of repeats the lower median of their medians."),
    I64("cand_step_ns", "ns",
        "Median steady step of the candidate likewise; per token it is scaled to the base's tokens "
        "per step."),
    I64("delta_ns", "ns", "Candidate minus base; negative is faster."),
    F64("delta_share", "share", "The difference by the base's step."),
    I64("base_ci_low_ns", "ns",
        "Lower end of the 95 % confidence interval within the base's run; empty for repeats."),
    I64("base_ci_high_ns", "ns", "Upper end of the same."),
    I64("cand_ci_low_ns", "ns",
        "Lower end of the 95 % confidence interval within the candidate's run; empty for repeats."),
    I64("cand_ci_high_ns", "ns", "Upper end of the same."),
    F64("speedup", "",
        "Base step by candidate step; above 1 the candidate is faster; empty for different work."),
    TEXT("verdict", "What the evidence allows to say: significant, within noise or noise unknown."),
    TEXT("verdict_text", "The verdict as a sentence."),
    I64("base_steps", "count", "Steady steps of the base, over all its runs."),
    I64("cand_steps", "count", "Steady steps of the candidate, over all its runs."),
    I64("base_mean_ns", "ns", "Mean steady step of the base, on which the waterfall stands."),
    I64("cand_mean_ns", "ns", "Mean steady step of the candidate; per token it is scaled."),
    I64("delta_mean_ns", "ns", "Difference of the means; the waterfall sums to it exactly."),
    F64("matched_share", "share",
        "Part of the device time of both sides in rows that an operator or a kernel's name "
        "matched."),
    I64("base_runs", "count", "Runs of the base."),
    I64("cand_runs", "count", "Runs of the candidate."),
    I64("shift_ns", "ns",
        "Shift of the step from base to candidate: Hodges-Lehmann over the runs' medians; the "
        "plain difference where a side has one run."),
    F64("shift_share", "share", "The shift by the base's step."),
    F64("shift_low_share", "share", "Lower end of its 95 % interval; empty without one."),
    F64("shift_high_share", "share", "Upper end of its 95 % interval; empty without one."),
    F64("p_value", "",
        "Chance of a difference as large or larger when both sides are alike; empty when "
        "untested."),
    TEXT("method", "How noise was judged: mann_whitney, history, series, equal or none."),
    BOOLEAN("relevant",
            "Whether the difference is significant and at least relevant_from_ns large."),
    I64("relevant_from_ns", "ns", "Least difference of a step that counts as relevant."),
    F64("threshold_share", "share",
        "Difference that past runs of the series do not pass without a cause; empty without "
        "history."),
    I64("base_tokens", "count", "Tokens per step of the base; empty when not known."),
    I64("cand_tokens", "count", "Tokens per step of the candidate; empty when not known."),
    F64("matched_module_share", "share",
        "Part of both sides' device time matched by operator, shapes, types and module."),
    F64("matched_shape_share", "share", "By operator, shapes and types."),
    F64("matched_op_share", "share", "By operator alone."),
    F64("matched_kernel_share", "share", "By the kernel's name."),
    F64("matched_category_share", "share", "By category only: joined in one row."),
    F64("unmatched_share", "share", "By nothing; the six shares sum to 1."),
    I64("bridge_ns", "ns",
        "delta_ns less delta_mean_ns: what odd steps move in the means but not in the medians. The "
        "waterfall's bars and this sum to delta_ns exactly."),
    F64("same_work_share", "share",
        "Part of both sides' device time in rows that operator, shapes and types matched (the "
        "operator alone where a side has no shapes of it; the kernel's name without an operator) "
        "and that run as often per step, give or take a tenth."),
    BOOLEAN("same_work",
            "Whether both sides did the same work: same_work_share is 0.8 or more, or their model "
            "FLOPs per step are within a tenth, known for half of the time or more. Of different "
            "work neither side is faster."),
    F64("base_flops_per_step", "count",
        "Floating point operations of a step of the base, of matrix products, attention and "
        "convolutions, without recomputation; empty when not known."),
    F64("cand_flops_per_step", "count", "The same of the candidate."),
    F64("base_flops_time_share", "share",
        "Part of the time of the base's matrix products, attention and convolutions that has its "
        "operations worked out."),
    F64("cand_flops_time_share", "share", "The same of the candidate."),
    F64("base_unknown_precision_share", "share",
        "Part of the time of the base's matrix products whose precision is not known."),
    F64("cand_unknown_precision_share", "share", "The same of the candidate."),
};
const struct table_desc table_compare_summary =
    TABLE("compare_summary", compare_summary, "The base and each candidate in one row.");

static const struct column columns_compare_runs[] = {
    I64("cand", "", "Number of the candidate whose run it is, from 1; 0 for the base."),
    TEXT("run", "The run."),
    TEXT("name", "Its name."),
    I64("step_median_ns", "ns", "Median steady step of the rank that stands for the run."),
    I64("step_ci_low_ns", "ns", "Lower end of its 95 % confidence interval within the run."),
    I64("step_ci_high_ns", "ns", "Upper end of the same."),
    I64("mean_ns", "ns", "Mean steady step; the eight parts sum to it exactly."),
    I64("steady_steps", "count", "Steps kept after warm-up."),
    I64("gemm_ns", "ns", "Matrix products in a mean steady step."),
    I64("attention_ns", "ns", "Attention in a mean steady step."),
    I64("other_compute_ns", "ns", "Other compute in a mean steady step."),
    I64("exposed_comm_ns", "ns", "Exposed communication in a mean steady step."),
    I64("exposed_memory_ns", "ns", "Exposed copies and memsets in a mean steady step."),
    I64("idle_host_wait_ns", "ns", "Idle time waiting for the host in a mean steady step."),
    I64("idle_other_ns", "ns", "Other idle time in a mean steady step."),
    I64("unrecorded_ns", "ns", "Unrecorded time in a mean steady step."),
};
const struct table_desc table_compare_runs =
    TABLE("compare_runs", compare_runs, "The runs of all sides, the base's first.");

static const struct column columns_compare_settings[] = {
    CAND_COLUMN,
    TEXT("key", "Name of the setting."),
    TEXT("base",
         "Value of the setting in the base; where its runs or ranks differ, the most frequent "
         "values joined by |."),
    TEXT("cand_value", "Value of the setting in the candidate, likewise."),
    BOOLEAN("differs", "Whether the two differ; of a host's name never: it is no setting."),
    TEXT("base_source", "Where the base's value comes from: trace, or upload (given by people)."),
    TEXT("cand_source", "Where the candidate's value comes from."),
};
const struct table_desc table_compare_settings =
    TABLE("compare_settings", compare_settings, "How the runs were made, differences first.");

static const struct column columns_compare_waterfall[] = {
    CAND_COLUMN,
    I64("id", "", "Number of the row, unique over all candidates."),
    I64("parent", "", "Row that this one is a part of; empty for the bars."),
    TEXT("level", "bar, category, op, shape or kernel; the rows of each level alone sum to the "
                  "step exactly."),
    TEXT("bar", "One of the eight parts of the step."),
    TEXT("category", "Category of the work within the bar; of idle time its cause."),
    TEXT("op", "Operator, by the name that both vendors share; empty where a kernel's name or only "
               "the category matched."),
    TEXT("dims", "Shapes of the operator's inputs; empty where they differ or are not recorded."),
    TEXT("types", "Element types of its inputs, likewise."),
    TEXT("base_kernel", "Device event with most of the row's time in the base."),
    TEXT("cand_kernel", "Device event with most of the row's time in the candidate."),
    TEXT("match", "Weakest rung of the matching ladder among the row's parts: module, shape, op, "
                  "kernel, category or unmatched; bar and category in rows of these levels."),
    I64("base_total_ns", "ns", "Owned time over all steady steps of the base."),
    I64("cand_total_ns", "ns", "Owned time over all steady steps of the candidate."),
    I64("base_steps", "count", "Steady steps of the base."),
    I64("cand_steps", "count", "Steady steps of the candidate."),
    I64("base_ns", "ns",
        "Owned time per step of the base, rounded so that every level sums exactly."),
    I64("cand_ns", "ns",
        "Owned time per step of the candidate, rounded so that every level sums exactly; per token "
        "it is scaled."),
    I64("delta_ns", "ns", "Candidate minus base per step."),
    I64("base_calls", "count", "Device events of the base's steady steps."),
    I64("cand_calls", "count", "Device events of the candidate's steady steps."),
    I64("calls_effect_ns", "ns",
        "Part of the difference from more or fewer calls, at the base's time per call."),
    I64("per_call_effect_ns", "ns",
        "Part of the difference from calls that take longer or shorter: all that more or fewer "
        "calls do not explain."),
    F64("p_value", "",
        "Chance of a difference as large or larger when both sides are alike, against what all "
        "rows of the level did unless that is a change itself; empty when untested."),
    F64("q_value", "",
        "The same corrected for the number of rows of the level: the alpha from which the row is "
        "reported."),
    TEXT("verdict", "significant, within noise or noise unknown."),
    BOOLEAN("relevant",
            "Whether the difference is significant and at least relevant_from_ns large."),
};
const struct table_desc table_compare_waterfall =
    TABLE("compare_waterfall", compare_waterfall,
          "The difference of the mean steady steps, down to operators, shapes and kernels.");

static const struct column columns_compare_modules[] = {
    CAND_COLUMN,
    TEXT("path",
         "Modules from the root on, joined by slashes; numbers count modules of one class below "
         "one module, so that they match between runs."),
    I64("depth", "", "0 for the root."),
    I64("base_ns", "ns",
        "Owned time of the module and all below in the base's mean steady step; its own time and "
        "that of the modules below sum to it exactly, the root's is the busy time."),
    I64("cand_ns", "ns", "The same of the candidate; per token it is scaled."),
    I64("delta_ns", "ns", "Candidate minus base."),
    I64("base_self_ns", "ns", "Part of the base's time outside of the modules below."),
    I64("cand_self_ns", "ns", "The same of the candidate."),
    I64("delta_self_ns", "ns",
        "Candidate minus base of the same; all rows sum to the difference "
        "of the busy time exactly."),
    F64("base_calls", "count", "Forward calls per step of the base; empty where it lacks it."),
    F64("cand_calls", "count", "Forward calls per step of the candidate."),
    TEXT("base_path", "Path as recorded in the base; empty where it lacks the module."),
    TEXT("cand_path", "Path as recorded in the candidate."),
};
const struct table_desc table_compare_modules =
    TABLE("compare_modules", compare_modules, "Modules of both sides, each below its parent.");

static const struct column columns_compare_collectives[] = {
    CAND_COLUMN,
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),
    TEXT("role", "What the groups share: data, tensor, pipeline, expert, ...; empty when not "
                 "known."),
    I64("group_size", "count", "Ranks in the group."),
    TEXT("dtype", "Element type as recorded."),
    TEXT("size_class", "Message sizes from a power of two up to, and without, the next."),
    F64("base_calls", "count", "Calls per step of the base's rank."),
    F64("cand_calls", "count", "Calls per step of the candidate's rank."),
    I64("base_ns", "ns", "Durations per step of the base, waiting for other ranks included."),
    I64("cand_ns", "ns", "The same of the candidate."),
    I64("delta_ns", "ns", "Candidate minus base."),
    I64("base_exposed_ns", "ns", "Time per step of the base that no compute hid."),
    I64("cand_exposed_ns", "ns", "The same of the candidate."),
    I64("delta_exposed_ns", "ns", "Candidate minus base."),
    F64("base_bus_gbps", "GB/s",
        "Bus bandwidth of the base: mean over its groups and runs, weighted by bytes."),
    F64("cand_bus_gbps", "GB/s", "The same of the candidate."),
};
const struct table_desc table_compare_collectives =
    TABLE("compare_collectives", compare_collectives,
          "Communication of both sides by kind, group, type and size.");

static const struct column columns_compare_ranks[] = {
    CAND_COLUMN,
    I64("rank", "", "The rank; empty in rows of a statistic."),
    TEXT("statistic", "min, median, mean or max over the ranks of each side; empty in rows of one "
                      "rank, which stand there where both sides have the same ranks."),
    I64("base_step_ns", "ns", "Median steady step in the base; of repeats the lower median."),
    I64("cand_step_ns", "ns", "The same of the candidate; per token it is scaled."),
    I64("delta_ns", "ns", "Candidate minus base."),
    F64("delta_share", "share", "The difference by the base's step."),
    I64("base_lateness_ns", "ns",
        "By how much the rank keeps the others waiting, per step of the base."),
    I64("cand_lateness_ns", "ns", "The same of the candidate."),
    I64("base_exposed_wait_ns", "ns",
        "Exposed communication in which it waited for others, per step of the base."),
    I64("cand_exposed_wait_ns", "ns", "The same of the candidate."),
};
const struct table_desc table_compare_ranks =
    TABLE("compare_ranks", compare_ranks, "Ranks of both sides.");

static const struct column columns_compare_memory[] = {
    CAND_COLUMN,
    TEXT("device", "The device as the base calls it, or cpu; cuda:0 and hip:0 are one, and "
                   "so are accelerators that are the only ones of their runs."),
    I64("base_allocated_bytes", "bytes",
        "Most that tensors held at once in the base; the largest of repeats."),
    I64("cand_allocated_bytes", "bytes", "The same of the candidate."),
    I64("delta_allocated_bytes", "bytes", "Candidate minus base."),
    I64("base_reserved_bytes", "bytes",
        "Most that the allocator held at once in the base; the largest of repeats."),
    I64("cand_reserved_bytes", "bytes", "The same of the candidate."),
    I64("delta_reserved_bytes", "bytes", "Candidate minus base."),
    I64("base_capacity_bytes", "bytes", "Memory of the base's device."),
    I64("cand_capacity_bytes", "bytes", "Memory of the candidate's device."),
};
const struct table_desc table_compare_memory =
    TABLE("compare_memory", compare_memory, "Peaks of memory by device.");

static const struct column columns_compare_findings[] = {
    CAND_COLUMN,
    TEXT("id", "The rule, or rule:subject."),
    TEXT("rule", "Stable name of the rule."),
    TEXT("title", "The finding with its number, the candidate's where it has it."),
    TEXT("state", "fixed: only the base has it; new: only the candidate; changed: both, at costs "
                  "that differ by relevant_from_ns or more; unchanged."),
    TEXT("severity", "high, medium, low or info."),
    I64("base_cost_ns", "ns",
        "Upper bound of what a steady step of the base could gain; of repeats the lower median; "
        "empty where it lacks the finding or the finding has no cost."),
    I64("cand_cost_ns", "ns", "The same of the candidate; per token it is scaled."),
    I64("delta_cost_ns", "ns", "Candidate minus base, a missing finding counting as 0."),
};
const struct table_desc table_compare_findings =
    TABLE("compare_findings", compare_findings, "Findings that went, came, changed or stayed.");

const struct table_desc *const compare_tables[] = {
    &table_compare_summary,  &table_compare_runs,
    &table_compare_settings, &table_compare_waterfall,
    &table_compare_modules,  &table_compare_collectives,
    &table_compare_ranks,    &table_compare_memory,
    &table_compare_findings, NULL,
};

const struct table_desc *const compare_run_tables[] = {
    &table_run_summary,  &table_run_ranks,      &table_run_environment,
    &table_run_findings, &table_run_comm_waits, NULL,
};

const struct table_desc *const compare_rank_tables[] = {
    &table_summary,        &table_breakdown, &table_parts,   &table_modules, &table_comm_sizes,
    &table_process_groups, &table_memory,    &table_metrics, NULL,
};
