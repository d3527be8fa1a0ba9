// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/log_curve.h"

#include "analysis/evidence/log_values.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

// Mean and extremes of a value over some steps.
struct spread {
    size_t count;
    double sum, low, high;
};

static void spread_add(struct spread *spread, double number)
{
    spread->low = spread->count && spread->low < number ? spread->low : number;
    spread->high = spread->count && spread->high > number ? spread->high : number;
    spread->sum += number;
    spread->count++;
}

static struct spread spread_of(const struct log_line *lines, size_t count, enum log_value value)
{
    struct spread spread = {0};
    for (size_t i = 0; i < count; i++)
        if (log_has_number(lines[i].printed, value))
            spread_add(&spread, lines[i].printed->values[value]);
    return spread;
}

static struct spread spread_of_times(const struct log_line *lines, size_t count)
{
    struct spread spread = {0};
    for (size_t i = 0; i < count; i++)
        if (lines[i].step_ns >= 0)
            spread_add(&spread, (double)lines[i].step_ns);
    return spread;
}

static struct spread spread_of_rates(const struct log_line *lines, size_t count)
{
    struct spread spread = {0};
    for (size_t i = 0; i < count; i++)
        if (!isnan(lines[i].samples_per_s))
            spread_add(&spread, lines[i].samples_per_s);
    return spread;
}

static double mean(const struct spread *spread)
{
    return spread->count ? spread->sum / (double)spread->count : NAN;
}

static void row_values(const struct log_line *lines, size_t count, struct row *row)
{
    struct spread loss = spread_of(lines, count, LOG_LOSS);
    struct spread tokens = spread_of(lines, count, LOG_TOKENS_PER_S);
    struct spread tflops = spread_of(lines, count, LOG_TFLOPS);
    struct spread norm = spread_of(lines, count, LOG_GRAD_NORM);
    struct spread memory = spread_of(lines, count, LOG_MEMORY_BYTES);
    struct spread times = spread_of_times(lines, count);
    struct spread samples = spread_of_rates(lines, count);
    row_f64(row, LOG_CURVE_SAMPLES_PER_S, mean(&samples));
    row_f64(row, LOG_CURVE_LOSS, mean(&loss));
    row_f64_if(row, LOG_CURVE_LOSS_LOW, loss.count, loss.low);
    row_f64_if(row, LOG_CURVE_LOSS_HIGH, loss.count, loss.high);
    row_f64_if(row, LOG_CURVE_GRAD_NORM, norm.count, norm.high);
    row_i64_if(row, LOG_CURVE_STEP_NS, times.count, times.count ? (int64_t)mean(&times) : 0);
    row_i64_if(row, LOG_CURVE_STEP_HIGH_NS, times.count, (int64_t)times.high);
    row_f64(row, LOG_CURVE_TOKENS_PER_S, mean(&tokens));
    row_f64(row, LOG_CURVE_TFLOPS, mean(&tflops));
    bool sound = memory.count && memory.high >= 0 && memory.high < LOG_MOST_WHOLE;
    row_i64_if(row, LOG_CURVE_MEMORY_BYTES, sound, sound ? (int64_t)memory.high : 0);
}

static bool add_row(const struct log_sequence *sequence, size_t first, size_t count,
                    struct str file, struct report *report, struct err *err)
{
    const struct log_line *lines = &sequence->lines[first], *last = &lines[count - 1];
    struct row row = {.desc = &table_log_curve};
    row_text(&row, LOG_CURVE_FILE, file);
    row_i64(&row, LOG_CURVE_SEGMENT, last->segment);
    row_i64(&row, LOG_CURVE_STEP, last->step);
    row_i64(&row, LOG_CURVE_STEPS, (int64_t)count);
    row_i64_if(&row, LOG_CURVE_TIME_NS, last->since_ns >= 0, last->since_ns);
    row_i64_if(&row, LOG_CURVE_CONSUMED_SAMPLES, log_has_whole(last->printed, LOG_CONSUMED_SAMPLES),
               log_whole(last->printed, LOG_CONSUMED_SAMPLES));
    row_i64_if(&row, LOG_CURVE_CONSUMED_TOKENS, log_has_whole(last->printed, LOG_CONSUMED_TOKENS),
               log_whole(last->printed, LOG_CONSUMED_TOKENS));
    row_values(lines, count, &row);
    return row_end(&row, report, err);
}

bool log_curve_add(const struct log_sequence *sequence, struct str file, struct report *report,
                   struct err *err)
{
    size_t most = (sequence->count + LOG_CURVE_ROWS - 1) / LOG_CURVE_ROWS;
    bool apart = sequence->restarts <= LOG_CURVE_ROWS;
    for (size_t i = 0, count; i < sequence->count; i += count) {
        count = 1;
        while (count < most && i + count < sequence->count &&
               (!apart || sequence->lines[i + count].segment == sequence->lines[i].segment))
            count++;
        if (!add_row(sequence, i, count, file, report, err))
            return false;
    }
    return true;
}
