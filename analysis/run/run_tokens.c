// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_tokens.h"

#include "analysis/report/tables.h"
#include "analysis/run/run_stated.h"

struct token_columns {
    const char *table;
    unsigned file, step, samples, tokens;
};

struct job {
    int64_t seq_length, batch; // 0 unknown
    const struct table *logs;
    struct str file; // of the row before
    bool from_zero;  // its first step is 0
    bool batches;    // its steps are batches of a GPU
};

static void look_up(struct job *job, struct str file)
{
    job->file = file;
    job->from_zero = job->batches = false;
    for (size_t i = 0; job->logs && i < job->logs->row_count; i++) {
        if (!str_equal(table_cell(job->logs, i, LOGS_FILE)->s, file))
            continue;
        job->from_zero = table_i64(job->logs, i, LOGS_FIRST_STEP, 1) == 0;
        job->batches = run_counts_batches(table_text(job->logs, i, LOGS_FRAMEWORK));
        return;
    }
}

// A log whose first step is 0 counts the steps before it.
static int64_t steps_until(const struct job *job, int64_t step)
{
    return step + (job->from_zero && step < INT64_MAX);
}

static void fill_row(struct job *job, const struct token_columns *columns,
                     const struct table *table, size_t row)
{
    // The report is the run's own and still being made.
    struct cell *tokens = (struct cell *)(uintptr_t)table_cell(table, row, columns->tokens);
    const struct cell *samples = table_cell(table, row, columns->samples);
    struct str file = table_cell(table, row, columns->file)->s;
    int64_t count, step = table_i64(table, row, columns->step, 0);
    if (!tokens->null)
        return;
    if (!job->file.at || !str_equal(job->file, file)) // rows of a file are adjacent
        look_up(job, file);
    if (!samples->null)
        count = samples->i;
    else if (!job->batch || job->batches ||
             __builtin_mul_overflow(steps_until(job, step), job->batch, &count))
        return;
    if (!__builtin_mul_overflow(count, job->seq_length, &count) && count >= 0)
        *tokens = cell_i64(count);
}

void run_fill_tokens(struct report *report)
{
    static const struct token_columns all[] = {
        {"log_steps", LOG_STEPS_FILE, LOG_STEPS_STEP, LOG_STEPS_CONSUMED_SAMPLES,
         LOG_STEPS_CONSUMED_TOKENS},
        {"log_curve", LOG_CURVE_FILE, LOG_CURVE_STEP, LOG_CURVE_CONSUMED_SAMPLES,
         LOG_CURVE_CONSUMED_TOKENS}};
    struct job job = {.seq_length = run_stated_count(report, "seq_length"),
                      .batch = run_stated_batch(report),
                      .logs = report_find(report, "logs")};
    for (size_t i = 0; job.seq_length && i < sizeof all / sizeof *all; i++) {
        const struct table *table = report_find(report, all[i].table);
        for (size_t row = 0; table && row < table->row_count; row++)
            fill_row(&job, &all[i], table, row);
    }
}
