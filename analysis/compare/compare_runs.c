// SPDX-License-Identifier: Apache-2.0
// The runs of a comparison, each with the parts of its mean step.
#include "analysis/compare/compare_pair.h"
#include "analysis/report/tables.h"

static bool add_run(const struct pool_run *run, int64_t number, struct report *report,
                    struct err *err)
{
    struct parts mean = {0};
    if (run->steps)
        mean = parts_per_step(&run->total, run->steps);
    struct row row = {.desc = &table_compare_runs};
    row_i64(&row, COMPARE_RUNS_CAND, number);
    row_text(&row, COMPARE_RUNS_RUN, run->from->id);
    row_text(&row, COMPARE_RUNS_NAME, run->from->name);
    row_i64_if(&row, COMPARE_RUNS_STEP_MEDIAN_NS, run->median_ns >= 0, run->median_ns);
    row_i64_if(&row, COMPARE_RUNS_STEP_CI_LOW_NS, run->ci_low_ns >= 0, run->ci_low_ns);
    row_i64_if(&row, COMPARE_RUNS_STEP_CI_HIGH_NS, run->ci_high_ns >= 0, run->ci_high_ns);
    row_i64(&row, COMPARE_RUNS_MEAN_NS, parts_window_ns(&mean));
    row_i64(&row, COMPARE_RUNS_STEADY_STEPS, run->steps);
    for (int b = 0; b < BAR_COUNT; b++)
        row_i64(&row, COMPARE_RUNS_GEMM_NS + b, mean.bar_ns[b]);
    return row_end(&row, report, err);
}

bool compare_runs_write(const struct compare_pool *pool, int64_t number, struct report *report,
                        struct err *err)
{
    for (size_t i = 0; i < pool->count; i++)
        if (!add_run(&pool->runs[i], number, report, err))
            return false;
    return true;
}
