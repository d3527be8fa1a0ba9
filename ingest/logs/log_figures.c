// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_figures.h"

#include "ingest/json/json_number.h"
#include "ingest/logs/log_dialects.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define GIB (1024.0 * 1024 * 1024)

enum { MOST_BATCHES = 64 };

// The steps of one writer.
struct steps {
    const struct evidence *evidence;
    struct figures *figures;
    const char *name;
    size_t count;
    const struct log_step *first, *last;
    double *numbers; // room for one of each step
};

static const struct log_step *next_step(const struct steps *steps, const struct log_step *step)
{
    const struct log_book *book = &steps->evidence->log;
    const struct log_step *end = book->steps + book->step_count;
    for (step = step ? step + 1 : book->steps; step < end; step++)
        if (step->writer == steps->name)
            return step;
    return NULL;
}

#define EACH(steps, step) for (const struct log_step *step = NULL; (step = next_step(steps, step));)

// --- values -------------------------------------------------------------------------------------

// Those of a figure that are numbers.
static size_t take_numbers(const struct steps *steps, enum log_value value)
{
    size_t count = 0;
    EACH(steps, step)
    if (log_step_has(step, value) && !isnan(step->values[value]))
        steps->numbers[count++] = step->values[value];
    return count;
}

// The number of that rank, found bit by bit from the highest: no order of the numbers makes this
// slow.
static double ranked(const double *numbers, size_t count, size_t rank)
{
    uint64_t prefix = 0;
    for (int shift = 56; shift >= 0; shift -= 8) {
        size_t counts[256] = {0}, digit = 0;
        for (size_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, &numbers[i], sizeof bits);
            bits ^= bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63; // in the order of the numbers
            if (shift == 56 || (bits ^ prefix) >> (shift + 8) == 0)
                counts[bits >> shift & 0xFF]++;
        }
        for (; rank >= counts[digit]; digit++)
            rank -= counts[digit];
        prefix |= (uint64_t)digit << shift;
    }
    double number;
    prefix ^= prefix >> 63 ? UINT64_C(1) << 63 : UINT64_MAX;
    memcpy(&number, &prefix, sizeof number);
    return number;
}

static double median(const struct steps *steps, enum log_value value)
{
    size_t count = take_numbers(steps, value);
    if (count == 0)
        return NAN;
    double upper = ranked(steps->numbers, count, count / 2);
    return count % 2 ? upper : (ranked(steps->numbers, count, count / 2 - 1) + upper) / 2;
}

// A figure of the writer; nothing if it is no number.
static void put(const struct steps *steps, const char *name, double number)
{
    if (isfinite(number))
        figures_real(steps->figures, number, "%s" IN "%s", steps->name, name);
}

static void put_count(const struct steps *steps, const char *name, int64_t count)
{
    figures_add(steps->figures, count, "%s" IN "%s", steps->name, name);
}

static void put_median(const struct steps *steps, const char *name, enum log_value value,
                       double scale)
{
    put(steps, name, median(steps, value) * scale);
}

static void put_last(const struct steps *steps, const char *name, enum log_value value)
{
    size_t count = take_numbers(steps, value);
    put(steps, name, count ? steps->numbers[count - 1] : NAN);
}

static void put_first(const struct steps *steps, const char *name, enum log_value value)
{
    put(steps, name, take_numbers(steps, value) ? steps->numbers[0] : NAN);
}

static double sum(const struct steps *steps, enum log_value value)
{
    double sum = 0;
    EACH(steps, step)
    sum += log_step_has(step, value) ? step->values[value] : 0;
    return sum;
}

static int64_t whole(double number)
{
    return number > -9e18 && number < 9e18 ? (int64_t)number : 0;
}

// --- steps --------------------------------------------------------------------------------------

static void put_range(const struct steps *steps, const char *first, const char *last)
{
    put_count(steps, first, steps->first->step);
    put_count(steps, last, steps->last->step);
}

static int64_t times_back(const struct steps *steps)
{
    int64_t times = 0, before = INT64_MIN;
    EACH(steps, step)
    {
        times += before != INT64_MIN && step->step <= before;
        before = step->step;
    }
    return times;
}

static int64_t distinct_steps(const struct steps *steps)
{
    size_t count = 0;
    bool ascending = true;
    EACH(steps, step)
    {
        steps->numbers[count] = (double)step->step;
        ascending = ascending && (count == 0 || steps->numbers[count] > steps->numbers[count - 1]);
        count++;
    }
    if (ascending)
        return (int64_t)count;
    qsort(steps->numbers, count, sizeof *steps->numbers, order_doubles);
    int64_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || steps->numbers[i] != steps->numbers[i - 1];
    return distinct;
}

static void put_batches(const struct steps *steps)
{
    double sizes[MOST_BATCHES];
    size_t count = 0;
    EACH(steps, step)
    {
        size_t at = 0;
        while (at < count && sizes[at] != step->values[LOG_GLOBAL_BATCH])
            at++;
        if (log_step_has(step, LOG_GLOBAL_BATCH) && at == count && count < MOST_BATCHES)
            sizes[count++] = step->values[LOG_GLOBAL_BATCH];
    }
    qsort(sizes, count, sizeof *sizes, order_doubles);
    figures_list(steps->figures, "%s" IN "gbs" IN, steps->name);
    for (size_t i = 0; i < count; i++)
        figures_add(steps->figures, whole(sizes[i]), "%s" IN "gbs" IN "%zu", steps->name, i);
}

// --- writers ------------------------------------------------------------------------------------

static void report_megatron(const struct steps *steps)
{
    double least = INFINITY, most = -INFINITY;
    put_range(steps, "first_iter", "last_iter");
    put_count(steps, "goes_back", times_back(steps));
    put_median(steps, "median_ms", LOG_STEP_S, 1e3);
    put_count(steps, "with_loss", (int64_t)take_numbers(steps, LOG_LOSS));
    put_last(steps, "last_loss", LOG_LOSS);
    put_count(steps, "skipped_sum", whole(sum(steps, LOG_SKIPPED)));
    put_count(steps, "nan_sum", whole(sum(steps, LOG_NAN)));
    put_median(steps, "median_tflops", LOG_TFLOPS, 1);
    put_median(steps, "median_tps", LOG_TOKENS_PER_S, 1);
    EACH(steps, step)
    {
        least = fmin(least, step->values[LOG_STEP_S]);
        most = fmax(most, step->values[LOG_STEP_S]);
    }
    put(steps, "min_ms", least * 1e3);
    put(steps, "max_ms", most * 1e3);
    put_batches(steps);
}

static void report_torchtitan(const struct steps *steps)
{
    double most = -INFINITY;
    put_count(steps, "distinct_steps", distinct_steps(steps));
    put_range(steps, "first_step", "last_step");
    put_median(steps, "median_tps", LOG_TOKENS_PER_S, 1);
    put_last(steps, "last_loss", LOG_LOSS);
    put_median(steps, "median_mfu", LOG_MFU, 100);
    put_median(steps, "median_tflops", LOG_TFLOPS, 1);
    EACH(steps, step)
    most = log_step_has(step, LOG_MEMORY_BYTES) ? fmax(most, step->values[LOG_MEMORY_BYTES]) : most;
    put(steps, "max_mem_gib", most / GIB);
}

static void report_deepspeed(const struct steps *steps)
{
    size_t number = 0;
    EACH(steps, step)
    figures_add(steps->figures, step->step, "%s" IN "steps" IN "%zu", steps->name, number++);
    put_last(steps, "last_avg_sps", LOG_MEAN_SAMPLES_PER_S);
    put_median(steps, "median_curr_sps", LOG_SAMPLES_PER_S, 1);
}

static void report_nemo2(const struct steps *steps)
{
    int64_t most = INT64_MIN;
    EACH(steps, step)
    most = step->step > most ? step->step : most;
    put_count(steps, "max_global_step", most);
    put_count(steps, "goes_back", times_back(steps));
    put_median(steps, "median_s", LOG_STEP_S, 1);
    put_first(steps, "first_loss", LOG_LOSS);
    put_last(steps, "last_loss", LOG_LOSS);
}

static void report_automodel(const struct steps *steps)
{
    put_range(steps, "first_step", "last_step");
    put_last(steps, "last_loss", LOG_LOSS);
    put_median(steps, "median_tps", LOG_JOB_TOKENS_PER_S, 1);
    put_median(steps, "median_tps_gpu", LOG_COPY_TOKENS_PER_S, 1);
}

static void report_maxtext(const struct steps *steps)
{
    put_range(steps, "first_step", "last_step");
    put_median(steps, "median_s", LOG_STEP_S, 1);
    put_median(steps, "median_tflops", LOG_TFLOPS, 1);
    put_last(steps, "last_loss", LOG_LOSS);
}

// The last line, of the whole training, is among the settings.
static void report_hf(const struct steps *steps)
{
    static const char *const names[] = {"train_runtime", "train_steps_per_second"};
    const struct evidence *evidence = steps->evidence;
    int64_t others = 0;
    put_first(steps, "first_loss", LOG_LOSS);
    put_last(steps, "last_loss", LOG_LOSS);
    for (size_t i = 0; i < 2 * evidence->setting_count; i++) {
        const struct evidence_setting *setting = &evidence->settings[i / 2];
        double number;
        if (!str_equal(setting->name, str_of(names[i % 2])) ||
            !json_to_f64(setting->value, &number))
            continue;
        put(steps, names[i % 2], number);
        others += i % 2 == 0;
    }
    for (size_t i = 0; i < evidence->log.event_count; i++)
        others += evidence->log.events[i].kind == LOG_EVALUATION;
    put_count(steps, "records", others);
    figures_add(steps->figures, others, "lines_by_kind" IN "%s", steps->name);
}

static const struct {
    const char *writer;
    void (*report)(const struct steps *steps);
} reports[] = {
    {"megatron", report_megatron},   {"torchtitan", report_torchtitan},
    {"deepspeed", report_deepspeed}, {"nemo2", report_nemo2},
    {"automodel", report_automodel}, {"hf", report_hf},
    {"maxtext", report_maxtext},
};

static void report_writer(struct steps *steps)
{
    EACH(steps, step)
    {
        steps->first = steps->count++ ? steps->first : step;
        steps->last = step;
    }
    if (steps->count == 0)
        return;
    figures_add(steps->figures, (int64_t)steps->count, "lines_by_kind" IN "%s", steps->name);
    put_count(steps, "records", (int64_t)steps->count);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (strcmp(reports[i].writer, steps->name) == 0)
            reports[i].report(steps);
}

// Several rows of the table may be of one writer.
static bool is_first_of_name(size_t dialect)
{
    for (size_t i = 0; i < dialect; i++)
        if (strcmp(log_dialects[i].name, log_dialects[dialect].name) == 0)
            return false;
    return true;
}

bool log_report(const struct evidence *evidence, struct figures *figures, struct err *err)
{
    const struct log_book *book = &evidence->log;
    size_t bytes = (book->step_count + 1) * sizeof(double);
    double *numbers = budget_alloc(evidence->budget, bytes, err);
    for (size_t i = 0; numbers && i < log_dialect_count; i++) {
        struct steps steps = {.evidence = evidence,
                              .figures = figures,
                              .name = log_dialects[i].name,
                              .numbers = numbers};
        if (is_first_of_name(i))
            report_writer(&steps);
    }
    figures_add(figures, (int64_t)book->event_count, "events");
    if (book->nul_bytes)
        figures_add(figures, (int64_t)book->nul_bytes, "nul_bytes");
    figures_add(figures, (int64_t)evidence->setting_count, "settings");
    budget_free(evidence->budget, numbers, numbers ? bytes : 0);
    return numbers;
}
