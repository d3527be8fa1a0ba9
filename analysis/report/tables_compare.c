// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

#define CAND_COLUMN I64("cand", "", "Number of the candidate in the request, from 1.")

static const struct column columns_compare_summary[] = {
    CAND_COLUMN,
    I64("base_step_ns", "ns",
        "Median steady step of the base; for repeats, the lower median of their medians."),
    I64("cand_step_ns", "ns",
        "Median steady step of the candidate, computed the same way; scaled to the base's tokens "
        "per step when comparing per token."),
    I64("delta_ns", "ns", "Candidate minus base; negative is faster."),
    F64("delta_share", "share", "Difference divided by the base's step."),
    I64("base_ci_low_ns", "ns",
        "Lower bound of the 95 % confidence interval within the base's run; empty for repeats."),
    I64("base_ci_high_ns", "ns", "Upper bound of the same interval."),
    I64("cand_ci_low_ns", "ns",
        "Lower bound of the 95 % confidence interval within the candidate's run; empty for "
        "repeats."),
    I64("cand_ci_high_ns", "ns", "Upper bound of the same interval."),
    F64("speedup", "",
        "Base step divided by candidate step: above 1 the candidate is faster; empty when the two "
        "did different work."),
    TEXT("verdict", "What the evidence supports: significant, within noise or noise unknown."),
    TEXT("verdict_text", "The verdict as a sentence."),
    I64("base_steps", "count", "Steady steps of the base, over all its runs."),
    I64("cand_steps", "count", "Steady steps of the candidate, over all its runs."),
    I64("base_mean_ns", "ns", "Mean steady step of the base: the start of the waterfall."),
    I64("cand_mean_ns", "ns",
        "Mean steady step of the candidate; scaled when comparing per token."),
    I64("delta_mean_ns", "ns", "Difference of the means; the waterfall sums to it exactly."),
    F64("matched_share", "share",
        "Share of both sides' device time in rows matched by operator or kernel name."),
    I64("base_runs", "count", "Runs of the base."),
    I64("cand_runs", "count", "Runs of the candidate."),
    I64("shift_ns", "ns",
        "Shift of the step from base to candidate: Hodges-Lehmann over the runs' medians; the "
        "plain difference when a side has one run."),
    F64("shift_share", "share", "Shift divided by the base's step."),
    F64("shift_low_share", "share", "Lower bound of its 95 % interval; empty without one."),
    F64("shift_high_share", "share", "Upper bound of its 95 % interval; empty without one."),
    F64("p_value", "",
        "Probability of a difference at least this large if both sides were equal; empty when "
        "untested."),
    TEXT("method", "How noise was judged: mann_whitney, history, series, equal or none."),
    BOOLEAN("relevant", "True when the difference is significant and at least relevant_from_ns."),
    I64("relevant_from_ns", "ns", "Smallest step difference that counts as relevant."),
    F64("threshold_share", "share",
        "Largest difference that the noise of past runs in the series explains; empty without "
        "history."),
    I64("base_tokens", "count", "Tokens per step of the base; empty when unknown."),
    I64("cand_tokens", "count", "Tokens per step of the candidate; empty when unknown."),
    F64("matched_module_share", "share",
        "Share of both sides' device time matched by operator, shapes, types and module."),
    F64("matched_shape_share", "share", "Share matched by operator, shapes and types."),
    F64("matched_op_share", "share", "Share matched by operator alone."),
    F64("matched_kernel_share", "share", "Share matched by kernel name."),
    F64("matched_category_share", "share", "Share matched by category only, merged into one row."),
    F64("unmatched_share", "share", "Share without a match; the six shares sum to 1."),
    I64("bridge_ns", "ns",
        "delta_ns minus delta_mean_ns: what outlier steps change in the means but not in the "
        "medians. The waterfall's bars and this sum to delta_ns exactly."),
    F64("same_work_share", "share",
        "Share of both sides' device time in rows matched by operator, shapes and types (by "
        "operator alone when a side has no shapes, by kernel name without an operator) whose calls "
        "per step agree within a tenth."),
    BOOLEAN("same_work", "True when both sides did the same work: same_work_share is at least 0.8, "
                         "or model FLOPs per step agree within a tenth and are known for at least "
                         "half of the time. Without the same work neither side counts as faster."),
    F64("base_flops_per_step", "count",
        "Floating point operations per step of the base in matrix products, attention and "
        "convolutions, without recomputation; empty when unknown."),
    F64("cand_flops_per_step", "count", "The same for the candidate."),
    F64("base_flops_time_share", "share",
        "Share of the base's matrix product, attention and convolution time with known FLOPs."),
    F64("cand_flops_time_share", "share", "The same for the candidate."),
    F64("base_unknown_precision_share", "share",
        "Share of the base's matrix product time with unknown precision."),
    F64("cand_unknown_precision_share", "share", "The same for the candidate."),
};
const struct table_desc table_compare_summary =
    TABLE("compare_summary", compare_summary, "The base against each candidate, one row each.");

static const struct column columns_compare_runs[] = {
    I64("cand", "", "Number of the candidate that the run belongs to, from 1; 0 for the base."),
    TEXT("run", "The run."),
    TEXT("name", "Its name."),
    I64("step_median_ns", "ns", "Median steady step of the rank that represents the run."),
    I64("step_ci_low_ns", "ns", "Lower bound of its 95 % confidence interval within the run."),
    I64("step_ci_high_ns", "ns", "Upper bound of the same interval."),
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
    TEXT("base", "Value of the setting in the base; if its runs or ranks differ, the most frequent "
                 "values joined by |."),
    TEXT("cand_value", "Value of the setting in the candidate, in the same form."),
    BOOLEAN("differs",
            "True when the two values differ; never for host names, which are not settings."),
    TEXT("base_source", "Source of the base's value: trace, or upload (entered by a user)."),
    TEXT("cand_source", "Source of the candidate's value."),
};
const struct table_desc table_compare_settings =
    TABLE("compare_settings", compare_settings, "Settings of the runs, differences first.");

static const struct column columns_compare_waterfall[] = {
    CAND_COLUMN,
    I64("id", "", "Number of the row, unique over all candidates."),
    I64("parent", "", "Id of the row that contains this one; empty for the bars."),
    TEXT("level",
         "bar, category, op, shape or kernel; the rows of each level sum to the step exactly."),
    TEXT("bar", "One of the eight parts of the step."),
    TEXT("category", "Category of the work within the bar; for idle time, its cause."),
    TEXT("op", "Operator, under its vendor-neutral name; empty when matched by kernel name or "
               "category only."),
    TEXT("dims", "Input shapes of the operator; empty when they differ or were not recorded."),
    TEXT("types", "Element types of its inputs; empty when they differ or were not recorded."),
    TEXT("base_kernel", "Device event with the most time of the row in the base."),
    TEXT("cand_kernel", "Device event with the most time of the row in the candidate."),
    TEXT("match", "Weakest kind of match among the row's parts: module, shape, op, kernel, "
                  "category or unmatched; bar or category in rows of these levels."),
    I64("base_total_ns", "ns", "Owned time over all steady steps of the base."),
    I64("cand_total_ns", "ns", "Owned time over all steady steps of the candidate."),
    I64("base_steps", "count", "Steady steps of the base."),
    I64("cand_steps", "count", "Steady steps of the candidate."),
    I64("base_ns", "ns",
        "Owned time per step of the base, rounded so that every level sums exactly."),
    I64("cand_ns", "ns",
        "Owned time per step of the candidate, rounded so that every level sums exactly; scaled "
        "when comparing per token."),
    I64("delta_ns", "ns", "Candidate minus base per step."),
    I64("base_calls", "count", "Device events of the base's steady steps."),
    I64("cand_calls", "count", "Device events of the candidate's steady steps."),
    I64("calls_effect_ns", "ns",
        "Part of the difference due to more or fewer calls, at the base's time per call."),
    I64("per_call_effect_ns", "ns",
        "Part of the difference due to slower or faster calls: the rest that the number of calls "
        "does not explain."),
    F64("p_value", "",
        "Probability of a difference at least this large if both sides were equal, relative to the "
        "common change of all rows of the level unless that is a change itself; empty when "
        "untested."),
    F64("q_value", "",
        "The p-value corrected for the number of rows of the level: the smallest alpha at which "
        "the row is reported."),
    TEXT("verdict", "significant, within noise or noise unknown."),
    BOOLEAN("relevant", "True when the difference is significant and at least relevant_from_ns."),
};
const struct table_desc table_compare_waterfall =
    TABLE("compare_waterfall", compare_waterfall,
          "The difference of the mean steady steps, down to operators, shapes and kernels.");

static const struct column columns_compare_modules[] = {
    CAND_COLUMN,
    TEXT("path", "Modules from the root, joined by slashes; numbered per class and parent so that "
                 "they match between runs."),
    I64("depth", "", "0 for the root."),
    I64("base_ns", "ns",
        "Owned time of the module and its submodules in the base's mean steady step: exactly the "
        "sum of its self time and its submodules; the busy time for the root."),
    I64("cand_ns", "ns", "The same for the candidate; scaled when comparing per token."),
    I64("delta_ns", "ns", "Candidate minus base."),
    I64("base_self_ns", "ns", "Part of the base's time outside submodules."),
    I64("cand_self_ns", "ns", "The same for the candidate."),
    I64("delta_self_ns", "ns",
        "Candidate minus base of the self times; all rows sum to the difference of the busy time "
        "exactly."),
    F64("base_calls", "count",
        "Forward calls per step of the base; empty when it lacks the module."),
    F64("cand_calls", "count", "Forward calls per step of the candidate."),
    TEXT("base_path", "Path as recorded in the base; empty when it lacks the module."),
    TEXT("cand_path", "Path as recorded in the candidate."),
};
const struct table_desc table_compare_modules =
    TABLE("compare_modules", compare_modules, "Modules of both sides, each after its parent.");

static const struct column columns_compare_collectives[] = {
    CAND_COLUMN,
    TEXT("kind", "Normalized kind: all_reduce, all_gather, reduce_scatter, ..."),
    TEXT("role",
         "Parallelism of the groups: data, tensor, pipeline, expert, ...; empty when unknown."),
    I64("group_size", "count", "Ranks in the group."),
    TEXT("dtype", "Element type as recorded."),
    TEXT("size_class", "Range of message sizes, from a power of two up to but excluding the next."),
    F64("base_calls", "count", "Calls per step of the base's rank."),
    F64("cand_calls", "count", "Calls per step of the candidate's rank."),
    I64("base_ns", "ns", "Durations per step of the base, waiting for other ranks included."),
    I64("cand_ns", "ns", "The same for the candidate."),
    I64("delta_ns", "ns", "Candidate minus base."),
    I64("base_exposed_ns", "ns", "Time per step of the base not hidden by compute."),
    I64("cand_exposed_ns", "ns", "The same for the candidate."),
    I64("delta_exposed_ns", "ns", "Candidate minus base."),
    F64("base_bus_gbps", "GB/s",
        "Bus bandwidth of the base: mean over its groups and runs, weighted by bytes."),
    F64("cand_bus_gbps", "GB/s", "The same for the candidate."),
};
const struct table_desc table_compare_collectives =
    TABLE("compare_collectives", compare_collectives,
          "Communication of both sides by kind, group, type and size.");

static const struct column columns_compare_ranks[] = {
    CAND_COLUMN,
    I64("rank", "", "The rank; empty in rows of a statistic."),
    TEXT("statistic", "min, median, mean or max over the ranks of each side; empty in rows of one "
                      "rank, present when both sides have the same ranks."),
    I64("base_step_ns", "ns", "Median steady step in the base; for repeats, the lower median."),
    I64("cand_step_ns", "ns", "The same for the candidate; scaled when comparing per token."),
    I64("delta_ns", "ns", "Candidate minus base."),
    F64("delta_share", "share", "Difference divided by the base's step."),
    I64("base_lateness_ns", "ns", "Time the rank keeps the others waiting, per step of the base."),
    I64("cand_lateness_ns", "ns", "The same for the candidate."),
    I64("base_exposed_wait_ns", "ns",
        "Exposed communication spent waiting for other ranks, per step of the base."),
    I64("cand_exposed_wait_ns", "ns", "The same for the candidate."),
};
const struct table_desc table_compare_ranks =
    TABLE("compare_ranks", compare_ranks, "Ranks of both sides.");

static const struct column columns_compare_memory[] = {
    CAND_COLUMN,
    TEXT("device", "Device by its name in the base, or cpu; cuda:0 and hip:0 match, and so do "
                   "accelerators that are the only one of their runs."),
    I64("base_allocated_bytes", "bytes",
        "Peak of memory allocated by tensors in the base; the largest of its repeats."),
    I64("cand_allocated_bytes", "bytes", "The same for the candidate."),
    I64("delta_allocated_bytes", "bytes", "Candidate minus base."),
    I64("base_reserved_bytes", "bytes",
        "Peak of memory reserved by the allocator in the base; the largest of its repeats."),
    I64("cand_reserved_bytes", "bytes", "The same for the candidate."),
    I64("delta_reserved_bytes", "bytes", "Candidate minus base."),
    I64("base_capacity_bytes", "bytes", "Memory of the base's device."),
    I64("cand_capacity_bytes", "bytes", "Memory of the candidate's device."),
};
const struct table_desc table_compare_memory =
    TABLE("compare_memory", compare_memory, "Memory peaks by device.");

static const struct column columns_compare_findings[] = {
    CAND_COLUMN,
    TEXT("id", "The rule, or rule:subject."),
    TEXT("rule", "Stable name of the rule."),
    TEXT("title",
         "Title of the finding with its figure, from the candidate if it has the finding."),
    TEXT("state", "fixed: only the base has it; new: only the candidate; changed: both, with costs "
                  "that differ by relevant_from_ns or more; unchanged."),
    TEXT("severity", "high, medium, low or info."),
    I64("base_cost_ns", "ns",
        "Upper bound of the time a steady step of the base could save; for repeats, the lower "
        "median; empty without the finding or without a cost."),
    I64("cand_cost_ns", "ns", "The same for the candidate; scaled when comparing per token."),
    I64("delta_cost_ns", "ns", "Candidate minus base; a missing finding counts as 0."),
};
const struct table_desc table_compare_findings =
    TABLE("compare_findings", compare_findings,
          "Findings that were fixed, are new, changed or stayed the same.");

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
