// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_stated.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"

// The next row with a value of that name, at or after *row.
static bool next_value(const struct table *settings, const char *standard, size_t *row,
                       struct str *value)
{
    for (; settings && *row < settings->row_count; ++*row) {
        const struct cell *cell = table_cell(settings, *row, JOB_SETTINGS_STANDARD_VALUE);
        if (cell->null || !table_is(settings, *row, JOB_SETTINGS_STANDARD, str_of(standard)))
            continue;
        *value = cell->s;
        ++*row;
        return true;
    }
    return false;
}

struct str run_stated(const struct report *report, const char *standard)
{
    struct str value = STR("");
    size_t row = 0;
    (void)next_value(report_find(report, "job_settings"), standard, &row, &value);
    return value;
}

int64_t run_stated_count(const struct report *report, const char *standard)
{
    const struct table *settings = report_find(report, "job_settings");
    struct str value;
    int64_t count;
    for (size_t row = 0; next_value(settings, standard, &row, &value);)
        if (str_to_i64(value, &count) && count > 0)
            return count;
    return 0;
}

// GPUs that work on their own samples; 0 unknown.
static int64_t data_parallel(const struct report *report)
{
    static const char *const others[] = {"tensor_parallel_size", "pipeline_parallel_size",
                                         "context_parallel_size"};
    int64_t size = run_stated_count(report, "data_parallel_size");
    int64_t world = run_stated_count(report, "world_size"), product = 1;
    if (size)
        return size;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int64_t other = run_stated_count(report, others[i]);
        if (other > 1 && __builtin_mul_overflow(product, other, &product))
            return 0;
    }
    return world % product == 0 ? world / product : 0;
}

int64_t run_stated_batch(const struct report *report)
{
    int64_t global = run_stated_count(report, "global_batch_size");
    int64_t device = run_stated_count(report, "device_batch_size");
    int64_t each = device ? device : run_stated_count(report, "micro_batch_size");
    int64_t times = device ? run_stated_count(report, "world_size") : data_parallel(report);
    int64_t passes = run_stated_count(report, "gradient_accumulation_steps"), batch;
    if (global || !each || !passes)
        return global;
    return __builtin_mul_overflow(each, passes, &batch) ||
                   __builtin_mul_overflow(batch, times, &batch)
               ? 0
               : batch;
}

bool run_counts_batches(struct str framework)
{
    return str_equal(framework, STR("openrlhf-bar"));
}
