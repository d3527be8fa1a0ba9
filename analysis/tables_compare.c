// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison of two runs.
#include "analysis/analysis.h"
#include "analysis/table_columns.h"
#include "analysis/tables.h"

static const struct column columns_compare_summary[] = {
    I64("base_step_ns", "ns", "Median steady step of the base's headline rank."),
    I64("cand_step_ns", "ns", "Median steady step of the candidate's headline rank."),
    I64("delta_ns", "ns", "Candidate minus base; negative is faster."),
    F64("delta_share", "share", "The difference by the base's step."),
    I64("base_ci_low_ns", "ns", "Lower end of the base's 95 % confidence interval."),
    I64("base_ci_high_ns", "ns", "Upper end of the base's 95 % confidence interval."),
    I64("cand_ci_low_ns", "ns", "Lower end of the candidate's 95 % confidence interval."),
    I64("cand_ci_high_ns", "ns", "Upper end of the candidate's 95 % confidence interval."),
    F64("speedup", "", "Base step by candidate step; above 1 the candidate is faster."),
    TEXT("verdict", "What the evidence allows to say; one run per side: noise unknown."),
    TEXT("verdict_text", "The verdict as a sentence."),
    I64("base_steps", "count", "Steady steps of the base."),
    I64("cand_steps", "count", "Steady steps of the candidate."),
    I64("base_mean_ns", "ns", "Mean steady step of the base, on which the waterfall stands."),
    I64("cand_mean_ns", "ns", "Mean steady step of the candidate."),
    I64("delta_mean_ns", "ns", "Difference of the means; the waterfall sums to it exactly."),
    F64("matched_share", "share",
        "Part of the device time of both sides in rows matched by operator or kernel name."),
};
const struct table_desc table_compare_summary =
    TABLE("compare_summary", compare_summary, "Two runs in one row.");

static const struct column columns_compare_settings[] = {
    TEXT("key", "Name of the setting."),
    TEXT("base", "Value of the setting in the base."),
    TEXT("cand", "Value of the setting in the candidate."),
    BOOLEAN("differs", "Whether the two differ."),
};
const struct table_desc table_compare_settings =
    TABLE("compare_settings", compare_settings, "How the runs were made, differences first.");

static const struct column columns_compare_waterfall[] = {
    TEXT("level", "bar, category within a bar, or row within a category."),
    TEXT("bar", "One of the seven parts of the step."),
    TEXT("category", "Category of the work within the bar."),
    TEXT("op", "Operator by which the row was matched."),
    TEXT("base_kernel", "Device event with most of the row's time in the base."),
    TEXT("cand_kernel", "Device event with most of the row's time in the candidate."),
    TEXT("match", "Rung of the matching ladder: bar, category, op, kernel or unmatched."),
    I64("base_total_ns", "ns", "Owned time over all steady steps of the base."),
    I64("cand_total_ns", "ns", "Owned time over all steady steps of the candidate."),
    I64("base_steps", "count", "Steady steps of the base."),
    I64("cand_steps", "count", "Steady steps of the candidate."),
    I64("base_ns", "ns",
        "Owned time per step of the base, rounded so that every level sums exactly."),
    I64("cand_ns", "ns",
        "Owned time per step of the candidate, rounded so that every level sums exactly."),
    I64("delta_ns", "ns", "Candidate minus base per step."),
    I64("base_calls", "count", "Device events of the base's steady steps."),
    I64("cand_calls", "count", "Device events of the candidate's steady steps."),
    I64("calls_effect_ns", "ns",
        "Part of the difference from more or fewer calls, at the base's time per call."),
    I64("per_call_effect_ns", "ns",
        "Part of the difference from calls that take longer or shorter: all that more or fewer "
        "calls do not explain."),
};
const struct table_desc table_compare_waterfall =
    TABLE("compare_waterfall", compare_waterfall,
          "The difference of the mean steady steps, down to operators and kernels.");

const struct table_desc *const compare_tables[] = {
    &table_compare_summary,
    &table_compare_settings,
    &table_compare_waterfall,
    NULL,
};
